// Everything of a client that outlives a single connection: handlers, what they are working on, and who reads events.

import { Anchor } from "./base/anchor.js";
import { Bindings } from "./duties/bindings.js";
import { fenced } from "./duties/fence.js";
import type { ApprovalHandler, ChangeHandler, InputHandler, Warning, WarningHandler } from "./duties/handlers.js";
import { Ledger } from "./duties/ledger.js";
import { Hub } from "./events/hub.js";
import { Vigil } from "./events/vigil.js";
import type { DataChangedParams, InitializeParams, InstanceId } from "./generated/protocol.js";
import { Link } from "./link/link.js";
import { Attachments } from "./recovery/attachments.js";
import type { Dial } from "./transport.js";

/** What the application has registered. */
export interface Handlers {
  readonly approvals: ApprovalHandler | undefined;
  readonly input: InputHandler | undefined;
  readonly changes: ChangeHandler | undefined;
  readonly warnings: WarningHandler;
}

/** What a client is made of. */
export interface Setup {
  readonly dial: Dial;
  /** What is said first on every connection. */
  readonly greeting: InitializeParams;
  /** Which process this client is, on all its connections. */
  readonly instance: InstanceId;
  readonly handlers: Handlers;
  readonly callTimeoutMs: number;
  readonly initializeTimeoutMs: number;
  /** How long a lost connection is tried to be made again. */
  readonly reconnectForMs: number;
}

/** The inside of a client. */
export class Core {
  readonly anchor = new Anchor();
  readonly hub = new Hub();
  readonly bindings = new Bindings();
  readonly attachments = new Attachments();
  readonly link: Link;
  readonly vigil: Vigil;
  readonly ledger: Ledger;
  readonly setup: Setup;
  /** How many connections there were. */
  connections = 0;

  constructor(setup: Setup) {
    this.setup = setup;
    this.link = new Link(this.anchor, setup.callTimeoutMs, setup.dial.isLasting);
    this.vigil = new Vigil(this.link);
    this.ledger = new Ledger(this.anchor);
  }

  get handlers(): Handlers {
    return this.setup.handlers;
  }

  /** Tells the application that lists may have changed. */
  tell(change: DataChangedParams): void {
    const { changes } = this.handlers;
    if (!changes) return;
    void fenced(() => changes(change)).then((outcome) => {
      if (!outcome.ok) this.warn({ what: "onChange", message: `onChange failed: ${outcome.why}` });
    });
  }

  /** Tells the application of what went wrong without anybody waiting for it. */
  warn(warning: Warning): void {
    void fenced(() => this.handlers.warnings(warning));
  }
}
