/** The page: one state, asked of the server, and all pictures of the answer. */

import { Attempts } from "./attempts.js";
import { Blocks, showFacts } from "./blocks.js";
import { card, only } from "./cards.js";
import { SolverChart, SpectrumChart, WeightsChart } from "./charts.js";
import { LearnerChoice, ModeChoice, SampleChoice } from "./choices.js";
import { announce, byId, h, say } from "./dom.js";
import { ItemList, MapPointing, PairView, asBefore } from "./items.js";
import { KernelBar } from "./kernelbar.js";
import { address, follow, onOpened, opened } from "./link.js";
import { copy, listing } from "./listing.js";
import { MatrixView } from "./matrix.js";
import { numbersInWords, showNumbers } from "./numbers.js";
import { Pens } from "./pens.js";
import { Pointing } from "./pointing.js";
import { Rate } from "./rate.js";
import { download } from "./save.js";
import { Stage } from "./stage.js";
import { Store, same } from "./state.js";
import { Teacher } from "./teacher.js";
import { theme } from "./theme.js";
import { Views } from "./views.js";
import { Wire } from "./wire.js";
import { short } from "./words.js";

/**
 * @typedef {import("./state.js").State} State
 * @typedef {import("./state.js").Data} Data
 * @typedef {import("./wire.js").Frame} Frame
 * @typedef {import("./choices.js").Mode} Mode
 * @typedef {{id: number, state: State, attempt: import("./attempts.js").Attempt|undefined, epoch: number, brief: boolean, done?: boolean}} Asked
 */

const LABELLED = new Set(["classify", "two_samples", "weights"]); // modes in which the class of a point means something
const KEYS = {
  points: "Keys in the picture: arrows move a crosshair, Enter adds a point, M takes one up, Delete erases.",
  classes: "Keys in the picture: arrows move a crosshair, Enter adds a point, M takes one up, Delete erases, 1 to 4 choose a class and L gives it.",
  items: "Click an item to compare it with the one before. Keys in the picture: arrows go from item to item, Enter chooses.",
};

const views = new Views();
const attempts = new Attempts();
/** What was sent, the newest last. @type {Asked[]} */
let sent = [];
/** Points of a family or of the table, which the server has drawn. @type {WeakMap<Data, number[][]>} */
const drawn = new WeakMap();
/** Where one left each mode. @type {Map<string, State>} */
const left = new Map();
let light = -1; // the sample that is looked at
let beside = -1; // the one that it is compared with
/** The samples of which the picture is. @type {Data|null} */
let pictured = null;
/** What is missing for a picture, in words. */
let missing = "";
/** The state of which something was told. @type {State|null} */
let toldOf = null;
let settling = false; // a gesture is over, but its last change is not answered yet

const wire = new Wire({
  compose,
  sent: (id) => {
    sent = [...sent.slice(-3), { id, ...now() }];
    byId("frame").dataset.busy = "true";
  },
  frame: received,
  opened: (again) => {
    say(byId("connection"), again ? "Connected again." : "");
    sent = [];
    if (page) wire.want();
    else wire.ask({ ask: "menu" }, begin);
  },
  lost: (reason) => say(byId("connection"), reason || "The server does not answer. If it was ended, start mercer play again; this page asks once a second."),
});

/** All that needs the menu; null until it is there. @type {ReturnType<typeof build>|null} */
let page = null;

/** @param {Frame} frame */
function begin({ data }) {
  page = build(data);
  page.changed();
}

/** @param {any} menu */
function build(menu) {
  /** @type {Map<string, Mode>} */
  const modes = new Map(menu.modes.map((mode) => [mode.name, mode]));
  /** @param {Mode} mode @returns {State} */
  const first = (mode) => ({ mode: mode.name, learner: mode.learners[0].name, kernel: mode.kernel, values: {}, data: mode.start });
  /** A state that came by a link, in a mode that there is. @param {State|null} state */
  const known = (state) => (state && modes.has(state.mode) ? state : null);

  const table = menu.table && { ...first(/** @type {Mode} */ (modes.get(menu.table.classes > 1 ? "classify" : "cluster"))), data: { table: true } };
  const store = new Store(known(opened()) ?? table ?? first(menu.modes[0]));
  let mode = /** @type {Mode} */ (modes.get(store.state.mode));

  // -- samples ---------------------------------------------------------------------------------------------------------

  const main = () => views.get(mode.shows);
  const points = () => store.state.data.points ?? drawn.get(store.state.data) ?? [];
  /** Whether the points are known here, and not only named. */
  const here = () => store.state.data.points !== undefined || drawn.has(store.state.data);
  const editable = () => mode.shows !== "items" && mode.families.length > 0 && here();
  let flat = { of: /** @type {number[][]} */ ([]), numbers: new Float64Array() };
  function numbers() {
    if (!here()) return main()?.arrays.points ?? [];
    if (flat.of !== points()) flat = { of: points(), numbers: Float64Array.from(points().flat()) };
    return flat.numbers;
  }
  /** @returns {import("./stage.js").Scene} */
  function scene() {
    // the picture of points that were all taken away is of nothing
    const view = here() && !points().length ? undefined : main();
    const { cursor, held } = pointing;
    return { view, mode: mode.name, shows: mode.shows, learner: store.state.learner, points: numbers(), width: menu.width, height: menu.height, light, beside, cursor, held };
  }
  function name(i) {
    if (mode.shows === "items") return main()?.data.items[i] ?? "";
    if (!mode.families.length) return `x = ${short(main()?.arrays.x[i], 3)}`;
    const point = points()[i];
    return `point ${i + 1}${point && LABELLED.has(mode.name) ? `, class ${point[2] + 1}` : ""}`;
  }
  /** The colour of a sample beside the matrix; −1 for none. */
  function label(i) {
    const view = main();
    if (mode.shows === "line" || mode.name === "components" || mode.name === "novelty") return -1;
    return view?.arrays.labels?.[i] ?? view?.arrays.assigned?.[i] ?? points()[i]?.[2] ?? -1;
  }

  // -- the kernel ------------------------------------------------------------------------------------------------------

  const bar = new KernelBar({
    typed: (text) => {
      if (text === store.state.kernel && !attempts.pending) {
        bar.forgive();
        return;
      }
      store.mark("typing");
      attempts.text(text);
      wire.want();
    },
    settle,
    names: () => mode.names,
    suggested: () => mode.suggested,
  });
  const blocks = new Blocks({
    edit: (edit, gesture) => {
      store.mark(gesture);
      attempts.edit(edit);
      wire.want();
    },
    settle,
    kernels: () => [...new Set([...mode.suggested, ...mode.names.map(({ text }) => text)])],
  });

  // -- choices ---------------------------------------------------------------------------------------------------------

  const modeChoice = new ModeChoice(menu.modes, enter);
  const learnerChoice = new LearnerChoice({
    learner: (learner) => store.change({ learner }),
    turn: (name, value) => store.change({ values: { ...store.state.values, [name]: value } }, `dial ${name}`),
    settle,
  });
  const sampleChoice = new SampleChoice({ data: (data, gesture = null) => store.change({ data, pair: undefined }, gesture), settle, most: menu.limits.points, table: menu.table });
  const pens = new Pens();

  /** Another mode, as one left it; a table and points that were put in by hand come along, where they are enough for it. */
  function enter(name) {
    const next = /** @type {Mode} */ (modes.get(name));
    left.set(mode.name, store.state);
    const before = left.get(name) ?? first(next);
    const { data } = store.state;
    const comes = mode.shows === "plane" && next.shows === "plane" && (data.table || data.points?.length);
    const fits = !comes || suits(next, data);
    const own = suits(next, before.data) ? before.data : next.start;
    store.change({ pair: undefined, ...before, ...(comes ? { data: fits ? data : own } : {}) });
    const { points: n, classes } = next.needs;
    if (!fits) tell(`${next.title} needs ${classes > 1 ? "points of two classes" : `${n} points or more`}, which yours are not: these are points of its own.`);
  }

  /** Whether the machines of a mode can learn from samples. @param {Mode} next @param {Data} data */
  function suits({ needs }, data) {
    if (data.table) return menu.table.n >= needs.points && menu.table.classes >= needs.classes;
    if (!data.points) return true;
    const counts = [0, 0, 0, 0];
    for (const [, , label] of data.points) counts[label]++;
    const there = counts.filter(Boolean).slice(0, needs.classes);
    return data.points.length >= needs.points && there.length === needs.classes && Math.min(...there) >= needs.each;
  }

  /** Say what the page has done of itself, with the way back. @param {string} words */
  function tell(words) {
    toldOf = store.state;
    const undo = () => {
      back();
      byId("plane").focus(); // the button is gone
    };
    byId("told").replaceChildren(`${words} `, h("button", { type: "button", onclick: undo }, "Undo"));
    byId("told").hidden = false;
    announce(words);
  }

  function settle() {
    if (attempts.pending) settling = true;
    else store.settle();
  }

  // -- pictures --------------------------------------------------------------------------------------------------------

  card("numbers", "Numbers");
  const stage = new Stage(byId("plane"));
  const matrix = new MatrixView({
    light: (i, j) => {
      look(i, j);
      teacher.pointed(i);
    },
    pick: (i, j) => mode.shows === "items" && choose([i, j]),
    name,
  });
  const spectrum = new SpectrumChart();
  const weights = new WeightsChart();
  const solver = new SolverChart();
  const pointing = new Pointing(byId("plane"), {
    box: () => stage.box, points, editable, most: () => menu.limits.points,
    tool: () => pens.tool, label: () => pens.label, choose: (k) => pens.choose(k), labelled: () => LABELLED.has(mode.name),
    edit: (changed, gesture) => store.change({ data: { points: changed } }, gesture),
    settle, light: (i) => mode.shows !== "items" && look(i), redraw: () => redraw("stage"),
  });
  const list = new ItemList({
    items: () => store.state.data.items ?? [], edit: (items, gesture) => store.change({ data: { items }, pair: undefined }, gesture),
    settle, light: look, most: () => menu.limits,
  });
  const pair = new PairView({ pick: choose });
  new MapPointing(byId("plane"), {
    box: () => stage.box, view: main, active: () => mode.shows === "items",
    light: look, lit: () => light, pick: (i) => choose([main()?.data.pair[1] ?? 0, i]),
  });
  const rate = new Rate();

  function look(i, j = -1) {
    if (i === light && j === beside) return;
    [light, beside] = [i, j];
    redraw("stage", "matrix");
  }

  /** @param {[number, number]} chosen two items to compare */
  function choose(chosen) {
    store.change({ pair: chosen });
  }

  const painters = {
    stage: () => stage.draw(scene()),
    matrix: () => matrix.draw(views.get("matrix"), light, beside, label),
    spectrum: () => chart(spectrum, views.get("spectrum")),
    solver: () => chart(solver, views.get("solver")),
    weights: () => chart(weights, views.get("weights")),
    numbers: () => showNumbers(main(), views.get("error"), views.get("error")?.id !== main()?.id, missing),
    pair: () => mode.shows === "items" && pair.show(main(), views.get("shared")),
  };
  /** @param {SpectrumChart|SolverChart|WeightsChart} of @param {Frame|undefined} view */
  function chart(of, view) {
    if (view) of.draw(view);
    else of.clear();
  }
  /** @type {Set<keyof typeof painters>} */
  const stale = new Set();
  /** Paint these before the next frame of the screen. @param {...keyof typeof painters} names */
  function redraw(...names) {
    if (!stale.size) requestAnimationFrame(paint);
    for (const name of names) stale.add(name);
  }
  function paint() {
    const names = [...stale];
    stale.clear();
    for (const name of names) painters[name]();
  }
  const all = /** @type {(keyof typeof painters)[]} */ (Object.keys(painters));
  new ResizeObserver(() => redraw(...all)).observe(byId("cards"));
  new ResizeObserver(() => redraw("stage")).observe(byId("plane"));
  theme(() => redraw(...all));

  function showCards() {
    const solved = views.get("solver");
    const steps = solved && (solved.arrays.steps.length || Object.keys(solved.data).length);
    only(new Set(["numbers", "matrix", "spectrum", ...(steps ? ["solver"] : []), ...(views.get("weights") ? ["weights"] : []), ...(mode.shows === "items" ? ["pair"] : [])]));
  }

  // -- the lesson, the rest of the page --------------------------------------------------------------------------------

  const teacher = new Teacher({
    go: (patch) => {
      attempts.forget();
      store.change({ ...patch, ...(patch.mode ? { pair: patch.pair } : {}) });
    },
    light: look,
    tool: (name) => pens.take(name),
    keep: () => {
      const [before, were] = [store.state, [...left]];
      return () => {
        left.clear();
        for (const [name, state] of were) left.set(name, state);
        if (same(before, store.state)) return;
        attempts.forget();
        store.change({ pair: undefined, ...before });
        tell("This is what there was before the lesson.");
      };
    },
    state: () => (mode.shows === "items" ? store.state : { ...store.state, data: { ...store.state.data, points: points() } }),
    seen: () => {
      const asked = newest();
      const fresh = asked !== undefined && same(asked.state, store.state) && !attempts.pending ? views.of(asked.id) : {};
      const shown = fresh[mode.shows]?.data.numbers ?? [];
      return { state: store.state, views: fresh, number: (words) => shown.find((row) => row.words === words)?.value ?? NaN };
    },
  });
  listing((answered) => wire.ask({ ask: "python", state: now().state }, answered));
  byId("link").addEventListener("click", () => copy(address(store.state), byId("link")));
  byId("picture").addEventListener("click", () => download(stage.svg(scene(), `${mode.title}: ${store.state.kernel}`), `mercer-${mode.name}.svg`));
  byId("undo").addEventListener("click", back);
  byId("redo").addEventListener("click", forth);
  byId("skip").addEventListener("click", () => byId("plane").focus());
  addEventListener("keydown", (event) => {
    const written = event.target instanceof HTMLElement && event.target.matches("input[type=text], textarea");
    if (written || !(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "z" && !event.shiftKey) back();
    else if (key === "y" || key === "z") forth();
    else return;
    event.preventDefault();
  });
  onOpened((state) => {
    attempts.forget();
    if (known(state)) store.change({ pair: undefined, ...state });
    else announce("The link holds no state of this page.");
  });

  function back() {
    attempts.forget();
    store.undo();
  }

  function forth() {
    attempts.forget();
    store.redo();
  }

  // -- what follows a change -------------------------------------------------------------------------------------------

  let shown = { mode: "", learner: "" };
  /** Controls follow the state; what must be computed is asked for. */
  function changed() {
    const { state } = store;
    mode = /** @type {Mode} */ (modes.get(state.mode));
    if (state.mode !== shown.mode) turned(state);
    else if (state.learner !== shown.learner) views.keep(newest()?.id ?? -1);
    shown = { mode: state.mode, learner: state.learner };
    if (state !== toldOf) byId("told").hidden = true;
    if (state.data.points?.length === 0) empty(-1);
    learnerChoice.show(mode, state);
    sampleChoice.show(mode, state);
    if (mode.shows === "items") list.show(state.data.items ?? []);
    if (!attempts.pending) bar.show(state.kernel);
    byId("undo").disabled = !store.past.length;
    byId("redo").disabled = !store.future.length;
    redraw("stage");
    teacher.check();
    follow(state);
    wire.want();
  }

  /** Another mode has begun: what is shown is of the former. */
  function turned(state) {
    views.clear();
    attempts.forget();
    look(-1);
    refuse("");
    say(byId("notices"), "");
    document.title = `${mode.title} · Mercer play`;
    modeChoice.show(mode.name);
    say(byId("question"), mode.question);
    pens.suit(LABELLED.has(mode.name));
    const items = mode.shows === "items";
    byId("editor").hidden = !items;
    const drawable = !items && mode.families.length > 0;
    say(byId("keys"), items ? KEYS.items : !drawable ? "" : LABELLED.has(mode.name) ? KEYS.classes : KEYS.points);
    byId("pens").hidden = !drawable;
    byId("plane").classList.toggle("drawable", drawable);
    byId("plane").setAttribute("aria-label", mode.title);
    bar.show(state.kernel, true);
    redraw(...all);
  }

  /** What was drawn is of samples that are gone; of the request with this id it is not. @param {number} id */
  function empty(id) {
    views.empty(id);
    look(-1);
    say(byId("notices"), "");
    stage.say(scene());
    showCards();
    redraw(...all);
  }

  store.listen(changed);
  return { store, changed, received: receivedHere, refuse };

  // -- answers ---------------------------------------------------------------------------------------------------------

  /** @param {Frame} frame @param {Asked} asked */
  function receivedHere(frame, asked) {
    if (asked.state.mode !== mode.name) return;
    if (frame.view === "refused") refusedHere(frame, asked);
    else if (frame.view === "done") done(frame, asked);
    else take(frame, asked);
  }

  function take(frame, asked) {
    if (frame.view === "items") asBefore(frame, views.get("items"));
    views.take(frame);
    if (frame.view === "facts") {
      accepted(frame, asked);
    } else if (frame.view === mode.shows) {
      if (asked.state.data.points === undefined && frame.arrays.points) drawn.set(asked.state.data, rows(frame.arrays.points));
      pictured = asked.state.data;
      refuse("");
      rate.drawn(frame.seconds ?? 0);
      redraw("stage", "numbers", "pair", "matrix");
    } else if (frame.view === "error") redraw("numbers");
    else if (frame.view === "shared") redraw("pair");
    else if (frame.view in painters) redraw(/** @type {any} */ (frame.view));
    showCards();
    teacher.check();
  }

  /** The kernel is one: it becomes the state's. */
  function accepted({ data }, asked) {
    const { attempt } = asked;
    attempts.over(attempt);
    if (attempt && asked.epoch === attempts.epoch) {
      // what was asked is what the state says now, and need not be asked again
      sent = sent.map((other) => (other.attempt === attempt ? { ...other, attempt: undefined, state: { ...other.state, kernel: data.kernel } } : other));
      store.amend({ kernel: data.kernel });
    }
    if (!attempts.pending) {
      showFacts(data);
      blocks.show(data.tree);
      if (attempt) bar.forgive();
      bar.show(store.state.kernel);
      if (settling) {
        settling = false;
        store.settle();
      }
    }
  }

  function refusedHere(frame, asked) {
    if (frame.data.facts) {
      // only samples are missing: the kernel is one all the same
      take({ ...frame, view: "facts", data: frame.data.facts }, asked);
      asked = sent.find(({ id }) => id === frame.id) ?? asked;
    }
    const { attempt, id } = asked;
    const early = !views.answers("facts", id);
    rested(asked);
    if (attempt && early) {
      attempts.over(attempt);
      const typed = "kernel" in attempt ? attempt.kernel : null;
      bar.complain(typed === null ? { message: frame.data.message } : frame.data, typed ?? "");
      const facts = views.get("facts");
      if (typed === null && facts) blocks.show(facts.data.tree);
      settling = false;
      // the picture is still that of the last whole answer
      sent = sent.filter((other) => other !== asked && other.done);
      if (!attempts.pending) store.settle();
    } else if (early && Number.isInteger(frame.data.at)) bar.complain(frame.data, asked.state.kernel);
    else {
      refuse(frame.data.message);
      // the last picture stays where it is of these samples; one of others would lie about them. Of an item that is
      // being written there may be none yet
      const half = mode.shows === "items" && asked.brief;
      if (frame.data.lacking || (pictured !== asked.state.data && !half)) empty(id);
    }
    showCards();
  }

  function done(frame, asked) {
    if (asked !== newest()) return;
    asked.done = true;
    if (!asked.brief) {
      views.keep(asked.id);
      redraw("numbers");
    }
    say(byId("notices"), frame.data.notices.join(" "));
    if (!asked.brief) inWords();
    rested(asked);
    showCards();
    teacher.check();
  }

  /** All is answered, and drawn: what came last is drawn with the next frame of the screen. @param {Asked} asked */
  function rested(asked) {
    const last = newest()?.id; // what is refused is forgotten before the next frame
    if (asked.id !== last) return;
    requestAnimationFrame(() => {
      if ((newest()?.id ?? last) <= last) byId("frame").dataset.busy = "false";
    });
  }

  /** What is seen, for who does not see it. */
  function inWords() {
    stage.say(scene());
    announce(numbersInWords(main(), views.get("error")));
  }

  function refuse(message) {
    missing = message;
    redraw("numbers");
    byId("refusal").hidden = !message;
    say(byId("refusal"), message);
    if (message) announce(message);
  }
}

/** Three numbers a point. @param {ArrayLike<number>} flat @returns {number[][]} */
function rows(flat) {
  const found = [];
  for (let i = 0; i < flat.length; i += 3) found.push([Math.round(flat[i] * 1e4) / 1e4, Math.round(flat[i + 1] * 1e4) / 1e4, flat[i + 2]]);
  return found;
}

// -- what is asked -----------------------------------------------------------------------------------------------------

const newest = () => sent.at(-1);

/** What the page wants to be answered now; brief while a hand is at a slider. */
function now() {
  const { store } = /** @type {NonNullable<typeof page>} */ (page);
  const attempt = attempts.next;
  return { state: store.state, attempt, epoch: attempts.epoch, brief: store.gesture !== null && store.gesture !== "typing" };
}

/** The message of it; null where that was asked before. */
function compose() {
  if (!page) return null;
  const { state, attempt, brief } = now();
  const before = newest();
  const asked = before && before.attempt === attempt && (brief || !before.brief) && same(before.state, state);
  return asked ? null : { state: { ...state, ...attempt }, brief };
}

/** @param {Frame} frame */
function received(frame) {
  const asked = sent.find(({ id }) => id === frame.id);
  if (asked) page?.received(frame, asked);
  else if (frame.view === "refused") page?.refuse(frame.data.message);
}

wire.open();
