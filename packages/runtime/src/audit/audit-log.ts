import { join } from 'node:path';
import { RepeatLimit, showJson, type RepeatRules } from '@mutirao/core/shared';
import { steadyClock, systemClock, type Clock } from '../driver/clock.ts';
import { systemTimers, type Timers } from '../driver/timers.ts';
import { RotatingFile } from '../files/rotating-file.ts';
import type { Logger } from '../log/index.ts';

/** What was done: a noun and a verb. `call.refuse` stands for any call that was refused. */
export type AuditAction =
  | 'job.submit'
  | 'job.append'
  | 'job.close'
  | 'job.cancel'
  | 'tasks.cancel'
  | 'tasks.hold'
  | 'tasks.release'
  | 'job.update'
  | 'jobs.forget'
  | 'job.retry'
  | 'blob.upload'
  | 'provider.add'
  | 'provider.remove'
  | 'provider.drain'
  | 'provider.undrain'
  | 'provider.configure'
  | 'machine.add'
  | 'machine.remove'
  | 'machine.quarantine'
  | 'machine.reset-trust'
  | 'machine.drain'
  | 'machine.undrain'
  | 'credential.issue'
  | 'credential.use'
  | 'credential.revoke'
  | 'reservation.request'
  | 'reservation.change'
  | 'reservation.confirm'
  | 'reservation.cancel'
  | 'reservation.claim'
  | 'reservation.release'
  | 'resource.register'
  | 'resource.change'
  | 'request.submit'
  | 'request.release'
  | 'call.refuse';

/** One line of an audit log: who did what, from where. */
export interface AuditEntry {
  readonly action: AuditAction;
  /**
   * The user, or the agent by its credential (`machine:NAME`, `invited:NAME`, `request:ID`); empty where the caller
   * proved nothing, and for what the process does itself.
   */
  readonly who: string;
  /** Address of the caller, or `socket`; left out for what the process does itself. */
  readonly from?: string;
  /** What it was done to, such as `job 7` or `machine lab/pc3`; left out where the action says all. */
  readonly target?: string;
  /** Code of the error for what was refused; left out for what was done. */
  readonly refusedWith?: string;
  /** One sentence more, without secrets. */
  readonly detail?: string;
}

/** Who does something, and from where. */
export type AuditCaller = Pick<AuditEntry, 'who' | 'from'>;

/** What a process does by itself. */
export const ownAccord: AuditCaller = { who: '' };

/** Writes down who did what. */
export interface Audit {
  /** Never throws and never waits: an audit log that cannot be written stops no service. */
  record(entry: AuditEntry): void;
  close(): void;
}

/** An audit log that keeps nothing. */
export const quietAudit: Audit = { record: () => undefined, close: () => undefined };

/** What an audit log needs of its process. */
export interface AuditOptions {
  readonly log: Logger;
  readonly clock?: Clock;
  readonly timers?: Timers;
}

const bytesMax = 16 * 1024 ** 2;
const keptMax = 4;
/** Of refusals; what was done is always written. */
const refusals: RepeatRules = { perKey: 20, total: 600, window: 60_000, keysMax: 1000 };
/** Texts from outside are cut to this length. */
const textMax = 300;

/**
 * The audit log of a process. @param name as its socket has it: `broker`, `provider-ID`, `reservations-ID`,
 * `cluster-ID`.
 */
export function auditPath(home: string, name: string): string {
  return join(home, 'audit', `${name}.jsonl`);
}

/** Opens the audit log of a process: lines of JSON, readable by its account alone, at most 80 MiB of them. */
export function openAudit(path: string, options: AuditOptions): Audit {
  return new AuditLog(new RotatingFile({ path, bytesMax, keptMax }), options);
}

class AuditLog implements Audit {
  readonly #file: RotatingFile;
  readonly #log: Logger;
  readonly #clock: Clock;
  /** For the minutes in which refusals are counted: they are as long when the clock of people is set. */
  readonly #steady: Clock;
  readonly #timers: Timers;
  readonly #limit = new RepeatLimit(refusals);
  /** Lines that could not be written since the last one that could. */
  #lostCount = 0;
  #timer: unknown;

  constructor(file: RotatingFile, { log, clock, timers = systemTimers }: AuditOptions) {
    this.#file = file;
    this.#log = log;
    this.#clock = clock ?? systemClock;
    this.#steady = clock ?? steadyClock;
    this.#timers = timers;
  }

  record(entry: AuditEntry): void {
    if (entry.refusedWith !== undefined && !this.#admitsRefusal(entry)) return;
    const { action, who, from, target, refusedWith, detail } = entry;
    this.#write({
      action,
      who: cut(who),
      from: cut(from),
      target: cut(target),
      refused_with: refusedWith,
      detail: cut(detail),
    });
  }

  close(): void {
    this.#timers.cancel(this.#timer);
    this.#timer = undefined;
    this.#reportSkipped(Infinity);
    this.#file.close();
  }

  /** Limits the refusals of one caller that are logged; the rest are counted and reported once a minute. */
  #admitsRefusal({ who, from = '', refusedWith = '' }: AuditEntry): boolean {
    this.#reportSkipped(this.#steady.now());
    if (this.#limit.admit(`${refusedWith} ${cut(who) ?? ''} ${getHost(from)}`)) return true;
    this.#timer ??= this.#timers.start(refusals.window, () => {
      this.#timer = undefined;
      this.#reportSkipped(this.#steady.now());
    });
    return false;
  }

  #reportSkipped(now: number): void {
    const skipped = this.#limit.takeSkipped(now);
    if (skipped.length === 0) return;
    const [largest, ...others] = [...skipped].sort((one, other) => other.count - one.count);
    this.#write({
      action: 'audit.skip',
      who: '',
      detail: `${largest?.count ?? 0} more of ${largest?.key ?? ''}`,
      more: others.reduce((sum, { count }) => sum + count, 0) || undefined,
    });
  }

  #write(fields: object): void {
    const line = (more: object): string =>
      showJson(`${JSON.stringify({ time: new Date(this.#clock.now()).toISOString(), ...more })}\n`);
    const lost =
      this.#lostCount === 0
        ? ''
        : line({ action: 'audit.lose', who: '', detail: `${this.#lostCount} lines could not be written` });
    try {
      this.#file.append(`${lost}${line(fields)}`);
      if (this.#lostCount > 0)
        this.#log.info({ lines: this.#lostCount }, 'writing the audit log again; some lines are lost');
      this.#lostCount = 0;
    } catch (error) {
      if (this.#lostCount === 0) this.#log.error({ err: error }, 'cannot write the audit log; continuing without it');
      this.#lostCount += 1;
    }
  }
}

function cut(text: string | undefined): string | undefined {
  return text === undefined || text.length <= textMax ? text : `${text.slice(0, textMax - 3)}...`;
}

/** The host of an address: a caller may use as many ports as it likes. */
function getHost(from: string): string {
  return from.replace(/:\d+$/, '');
}
