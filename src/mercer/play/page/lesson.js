/** Twelve steps along the user guide: what is to be seen, what to do, and when it is done. */

/**
 * @typedef {import("./state.js").State} State
 * @typedef {{state: State, views: Record<string, any>, lit: Set<number>, number: (words: string) => number}} Seen
 *   `lit` are the samples that were pointed at since the step began
 * @typedef {{title: string, guide: string, text: string, task: string, look: string, tool?: string, scene: Partial<State>, answer?: (state: State) => Partial<State>, rows?: number[], done: (seen: Seen) => boolean}} Step
 *   `look` is the card to look at, `tool` what the pointer does, to add points where none is said; `answer` is what brings one to the end of the step, `rows` the samples to point at
 */

const rings = { family: "rings", n: 200, seed: 0 };
const moons = { family: "moons", n: 200, seed: 0 };

/** γ of the kernel as it is written; NaN without one. */
const gamma = ({ kernel }) => Number(/γ=([\d.e+-]+)/.exec(kernel)?.[1] ?? NaN);

const WORDS = [["gattaca", 0], ["gattacca", 0], ["attacca", 0], ["cattagat", 0], ["tgcgcgtg", 1], ["gcgctgcg", 1], ["tgcgctgc", 1], ["cgtgcgcg", 1]];

/** @type {Step[]} */
export const STEPS = [
  {
    title: "A line cannot separate rings",
    guide: "1. The kernel trick",
    text: "Two rings, and a machine that knows straight lines only: its kernel is the inner product. Whatever line it takes, half of the points are on the wrong side.",
    task: "Choose a kernel under which the rings come apart: write Polynomial(degree=2) in the kernel bar, or take one of the examples.",
    look: "numbers",
    scene: { mode: "classify", learner: "SVC", kernel: "Linear()", values: { C: 10 }, data: rings },
    answer: () => ({ kernel: "Polynomial(degree=2)" }),
    done: ({ state, number }) => state.mode === "classify" && state.data.family === "rings" && number("accuracy on these points") >= 0.99,
  },
  {
    title: "A straight line in another space",
    guide: "1. The kernel trick",
    text: "⟨x, z⟩² is the inner product of the features x₁², √2 x₁x₂ and x₂². In them the rings lie on two parallel planes. Nobody computed the features: the kernel is enough.",
    task: "Keep only these three features: in the blocks, turn the offset of Polynomial to 0. The rings are still told apart.",
    look: "numbers",
    scene: { mode: "classify", learner: "SVC", kernel: "Polynomial(degree=2)", values: { C: 10 }, data: rings },
    answer: () => ({ kernel: "Polynomial(degree=2, offset=0)" }),
    done: ({ state, number }) => /^Polynomial\((degree=2, )?offset=-?0(\.0+)?\)$/.test(state.kernel) && number("accuracy on these points") >= 0.99,
  },
  {
    title: "All that the machine sees",
    guide: "1. The kernel trick",
    text: "The machine never sees the plane, only the Gram matrix: k of every two samples, bright where they are alike. Samples of a class stand together, so two bright squares are what one hopes for.",
    task: "Point at three different rows of the matrix, or go through it with the arrow keys: their samples light up in the plane, that of the row and, with dashes, that of the column.",
    look: "matrix",
    scene: { mode: "classify", learner: "SVC", kernel: "Gaussian(γ=2)", values: { C: 10 }, data: rings },
    rows: [0, 1, 2],
    done: ({ lit }) => lit.size >= 3,
  },
  {
    title: "Not every function is a kernel",
    guide: "2. Positive definite functions",
    text: "A kernel is an inner product somewhere, so none of its matrices has a negative eigenvalue. The badge under the kernel bar says what is proved; the eigenvalues say what these data show.",
    task: "Try Sigmoid(). Its matrix has eigenvalues below zero: they stand at the right end, in another colour. What the machine then finds has no geometry behind it.",
    look: "spectrum",
    scene: { mode: "classify", learner: "SVC", kernel: "Gaussian(γ=2)", values: { C: 10 }, data: moons },
    answer: () => ({ kernel: "Sigmoid()" }),
    done: ({ views: { facts, spectrum } }) => facts?.data.psd === false && spectrum !== undefined && spectrum.data.negative > 0,
  },
  {
    title: "How near is near?",
    guide: "3. Kernels on vectors and histograms",
    text: "The width of a Gaussian says up to where points are alike. Make it narrow, and each point is alike to itself only: every point is learnt by heart, and nothing is known between them.",
    task: "Turn γ to 100 or more. No training error is left, and most points are support vectors: look at the estimate of the error by leaving one out.",
    look: "numbers",
    scene: { mode: "classify", learner: "SVC", kernel: "Gaussian(γ=2)", values: { C: 10 }, data: moons },
    answer: () => ({ kernel: "Gaussian(γ=200)" }),
    done: ({ state, views }) => state.mode === "classify" && gamma(state) >= 100 && views.spectrum !== undefined,
  },
  {
    title: "The price of errors",
    guide: "5. One theorem, many machines",
    text: "Where classes overlap, no machine should try to be right everywhere. C is what an error costs. The dashed lines are −1 and 1: between them is the margin, and on it or on the wrong side are the support vectors.",
    task: "Turn C down to 0.05 or less: the margin grows wide, and almost every point supports it. Then turn it up again and watch the boundary follow single points.",
    look: "numbers",
    scene: { mode: "classify", learner: "SVC", kernel: "Gaussian(γ=1)", values: { C: 100 }, data: { family: "overlap", n: 200, seed: 0 } },
    answer: () => ({ values: { C: 0.03 } }),
    done: ({ state }) => state.mode === "classify" && state.data.family === "overlap" && state.values.C <= 0.05,
  },
  {
    title: "A number, and how sure it is",
    guide: "5. One theorem, many machines",
    text: "Regression with the same kernel: the line is the mean, the band two standard deviations of the function, not of the data, which scatter beyond it. Where there are no points, the machine should say that it does not know.",
    task: "Erase is chosen: take away all points between x = 0 and x = 1. The band opens there.",
    look: "numbers",
    tool: "erase",
    scene: { mode: "regress", learner: "ridge", kernel: "Gaussian(γ=1)", values: { alpha: 0.1 }, data: { family: "wave", n: 80, seed: 0 } },
    answer: (state) => ({ data: { points: (state.data.points ?? []).filter(([x]) => x < 0 || x > 1) } }),
    done: ({ state, views }) => state.mode === "regress" && (state.data.points?.length ?? 0) > 20 && state.data.points.every(([x]) => x < 0 || x > 1) && views.line !== undefined,
  },
  {
    title: "Along which functions do points vary?",
    guide: "4. The space of a kernel",
    text: "Principal components in the space of the kernel are functions on the plane, drawn by lines of equal value. Each point is tied to where the components that are kept, here four, put it back, an orange mark: noise is what is lost on the way.",
    task: "Turn “component that is shown” to 2, then 3, and see which parts of the cloud each one tells apart.",
    look: "spectrum",
    scene: { mode: "components", learner: "PCA", kernel: "Gaussian(γ=1)", values: { n_components: 4, component: 1 }, data: { family: "cloud", n: 200, seed: 0 } },
    answer: (state) => ({ values: { ...state.values, component: 3 } }),
    done: ({ state }) => state.mode === "components" && state.values.component >= 3,
  },
  {
    title: "Who is unlike the others?",
    guide: "5. One theorem, many machines",
    text: "Without any labels a machine can say where most points are. ν is the share that may be outside: an upper bound of the share outside, a lower bound of the share of support vectors. Points outside are framed; those on the border itself are ringed.",
    task: "Turn ν down to 0.03 or less. The border grows until hardly a point is outside, or none. Points far from all others are then on the border, each on an island of its own: the numbers count them.",
    look: "numbers",
    scene: { mode: "novelty", learner: "one-class", kernel: "Gaussian(γ=2)", values: { nu: 0.3 }, data: { family: "cloud", n: 200, seed: 0 } },
    answer: () => ({ values: { nu: 0.03 } }),
    done: ({ state }) => state.mode === "novelty" && state.values.nu <= 0.03,
  },
  {
    title: "Words have no coordinates",
    guide: "1. The kernel trick",
    text: "What is compared need not be points. The spectrum kernel counts the pieces of k letters that two words have in common; matrix, eigenvalues and map are as before.",
    task: "Write another word into the list, and see on the map whom it joins. “Two of them” lists the pieces that two words share.",
    look: "matrix",
    scene: { mode: "words", learner: "compare", kernel: "Spectrum(k=2).normalized()", values: {}, data: { items: /** @type {any} */ (WORDS) }, pair: [0, 1] },
    answer: (state) => ({ data: { items: [...(state.data.items ?? []), ["cattaga", 0]] } }),
    done: ({ state, views }) => state.mode === "words" && (state.data.items?.length ?? 0) > WORDS.length && views.items?.data.items.length > WORDS.length,
  },
  {
    title: "Which kernel? Let the data weigh them",
    guide: "2. Positive definite functions",
    text: "A sum of kernels is a kernel: its features stand side by side. Multiple kernel learning finds the weights of the terms together with the machine. With p = 1 kernels that add nothing may get the weight zero, as one of the four does here; the larger p, the more even the weights.",
    task: "Turn p from 1 to 3 or more: the weights become more even, and none is zero. Then see how little the boundary changes.",
    look: "weights",
    scene: { mode: "weights", learner: "MKL", kernel: "Gaussian(γ=8) + Gaussian(γ=1) + Gaussian(γ=0.1) + Linear()", values: { C: 1, p: 1 }, data: moons },
    answer: (state) => ({ values: { ...state.values, p: 3.5 } }),
    done: ({ state }) => state.mode === "weights" && state.values.p >= 3,
  },
  {
    title: "Now your own data",
    guide: "5. One theorem, many machines",
    text: "Clear the plane and draw points of two classes that you think are hard. Find a kernel that separates them, and say why it does: the estimates of the error tell whether it has learnt them by heart. “Show me the Python” takes the machine with you, and “mercer play TABLE” opens a table of yours.",
    task: "Press Clear, then draw at least ten points of two classes or more.",
    look: "numbers",
    scene: { mode: "classify", learner: "SVC", kernel: "Gaussian(γ=1)", values: { C: 10 }, data: { family: "squares", n: 100, seed: 0 } },
    answer: () => ({ data: { points: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11].map((i) => [Math.round(1e4 * (i % 2 ? 2.2 : 1) * Math.cos(i)) / 1e4, Math.round(1e4 * (i % 2 ? 2.2 : 1) * Math.sin(i)) / 1e4, i % 2]) } }),
    done: ({ state, views }) => state.mode === "classify" && (state.data.points?.length ?? 0) >= 10 && new Set(state.data.points?.map((p) => p[2])).size >= 2 && views.plane !== undefined,
  },
];
