/** The connection: what is asked for, the newest first and never more than one; what comes back, as views. */

/** @typedef {{view: string, id?: number, last?: boolean, seconds?: number, data: any, arrays: Record<string, any>, shapes: Record<string, number[]>}} Frame */

const KINDS = { float32: Float32Array, int32: Int32Array, uint8: Uint8Array };
const AGAIN = 1000; // milliseconds until the next attempt to connect
const STARVED = 400; // so long the lesser views may wait while a slider moves
const HASTE = 250; // so long a picture may take before a newer request takes its place
const PATIENCE = 2500; // the same while a slider moves, when each picture has a newer one after it

/**
 * A frame: the header, and arrays that look into the same memory.
 * @param {ArrayBuffer} buffer
 * @returns {Frame}
 */
export function decode(buffer) {
  const long = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, long)));
  const arrays = {};
  const shapes = {};
  for (const { name, dtype, shape, at } of header.arrays ?? []) {
    const size = shape.reduce((a, b) => a * b, 1);
    shapes[name] = shape;
    arrays[name] = new KINDS[dtype](buffer, 4 + long + at, size);
  }
  return { ...header, arrays, shapes };
}

/** Asks for the newest state and passes on what is answered. */
export class Wire {
  /**
   * @param {{compose: () => {state: any, brief: boolean}|null, sent: (id: number) => void, frame: (frame: Frame) => void, opened: (again: boolean) => void, lost: (reason: string) => void}} page
   *   `compose` makes the message of the newest state at the moment at which it can be sent; null where it was sent before
   */
  constructor(page) {
    this.page = page;
    /** @type {WebSocket|null} */
    this.socket = null;
    this.count = 0;
    this.wanted = false;
    /** @type {{id: number, main: boolean, began: number}|null} */
    this.underWay = null;
    this.complete = 0;
    this.timer = 0;
    this.before = false;
    /** @type {Map<number, (frame: Frame) => void>} */
    this.others = new Map();
  }

  open() {
    const address = new URL("live", location.href.split("#")[0]);
    address.protocol = address.protocol.replace("http", "ws");
    const socket = new WebSocket(address);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.page.opened(this.before);
      this.before = true;
    };
    socket.onmessage = (event) => this.receive(decode(event.data));
    socket.onclose = ({ reason }) => {
      this.underWay = null;
      this.others.clear();
      this.page.lost(reason);
      setTimeout(() => this.open(), AGAIN);
    };
  }

  get ready() {
    return this.socket !== null && this.socket.readyState === WebSocket.OPEN;
  }

  /** @param {any} message */
  send(message) {
    if (this.ready) this.socket?.send(JSON.stringify(message));
  }

  /** The picture is out of date. */
  want() {
    this.wanted = true;
    this.pump();
  }

  /** Ask for something beside the picture. @param {any} message @param {(frame: Frame) => void} answered */
  ask(message, answered) {
    const id = ++this.count;
    this.others.set(id, answered);
    this.send({ ...message, id });
  }

  pump() {
    clearTimeout(this.timer);
    if (!this.wanted || !this.ready) return;
    const message = this.page.compose();
    if (message === null) {
      this.wanted = false;
      return;
    }
    const now = performance.now();
    if (this.underWay) {
      // once the picture itself is there, the rest of it may give way to a newer one, but not for ever
      const givesWay = this.underWay.main && now - this.complete <= STARVED;
      const left = this.underWay.began + (message.brief ? PATIENCE : HASTE) - now;
      if (!givesWay && left > 0) {
        this.timer = window.setTimeout(() => this.pump(), left);
        return;
      }
    }
    this.wanted = false;
    this.underWay = { id: ++this.count, main: false, began: now };
    this.send({ ask: "show", id: this.count, ...message });
    this.page.sent(this.count);
  }

  /** @param {Frame} frame */
  receive(frame) {
    const other = frame.id === undefined ? undefined : this.others.get(frame.id);
    if (other) {
      this.others.delete(/** @type {number} */ (frame.id));
      other(frame);
      return;
    }
    this.page.frame(frame);
    if (!this.underWay || frame.id !== this.underWay.id) return;
    if (["plane", "line", "items", "refused"].includes(frame.view)) this.underWay.main = true;
    if (frame.last) {
      this.underWay = null;
      this.complete = performance.now();
    }
    this.pump();
  }
}
