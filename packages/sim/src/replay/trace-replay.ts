import {
  decodeTraceLine,
  findTraceVersion,
  traceVersion,
  type TraceHead,
  type TraceLine,
} from '@mutirao/core/debugging-trace';
import type { Decision, Duration, Instant } from '@mutirao/core/shared';
import { FormatError } from '@mutirao/formats';
import type { StoryEvent } from '../story/index.ts';
import { findDifference, type Difference } from './find-difference.ts';
import { openMachine, type OpenMachine } from './open-machine.ts';

/** A place in a trace: a turn, or a time since the process took over. */
export type TracePoint =
  | { readonly kind: 'turn'; readonly turn: number }
  | { readonly kind: 'time'; readonly time: Duration };

/** What is replayed, and the receiver of its events. */
export interface ReplayOptions {
  /** For messages. */
  readonly file: string;
  /** Turns before it are run, but not compared, checked or reported. */
  readonly from?: TracePoint | undefined;
  /** Turns after it are not run. */
  readonly until?: TracePoint | undefined;
  /** Called with the trace header, before anything else. */
  onHead?(head: TraceHead): void;
  /**
   * Called with every input, change and command of the turns from `from` on, in their order, as the replayed machine
   * has them.
   */
  onEvent?(event: StoryEvent): void;
}

/** What went wrong in a turn. `difference`: the live process recorded something else; `failure`: a step throws. */
export interface ReplayProblem {
  readonly kind: 'difference' | 'failure' | 'invariant';
  readonly turn: number;
  /** The line of the trace with the inputs of the turn. */
  readonly line: number;
  readonly now: Instant;
  readonly inputs: readonly unknown[];
  /** One sentence. */
  readonly message: string;
  /** Undefined unless values differ. */
  readonly difference: Difference | undefined;
}

/** What a replay came to. */
export interface ReplayReport {
  readonly head: TraceHead;
  /** Turns that were run. */
  readonly turnCount: number;
  /** Turns whose outcome was compared. */
  readonly comparedCount: number;
  /** Of the turns that were run, by kind, in the order of their first occurrence. */
  readonly inputCounts: ReadonlyMap<string, number>;
  readonly changeCount: number;
  readonly commandCount: number;
  /** From the takeover to the last turn. */
  readonly span: Duration;
  /** The first one, with which the replay ends; undefined when all is the same. */
  readonly problem: ReplayProblem | undefined;
  /** How the process ended: `cut` when the trace does not say, as after a kill. */
  readonly end: 'stopped' | 'failed' | 'cut';
  /** Empty unless it failed. */
  readonly endError: string;
  /** Whether the last line was cut in its middle, and left out. */
  readonly isHalfLineDropped: boolean;
}

type GetLine<Kind extends TraceLine['kind']> = Extract<TraceLine, { readonly kind: Kind }>;

interface OpenTurn extends GetLine<'inputs'> {
  readonly line: number;
  /** Undefined when the step was not run, or threw. */
  readonly decision: Decision<unknown, unknown> | undefined;
  readonly isWanted: boolean;
}

/**
 * Runs the machine of a debugging trace over its inputs in virtual time, checks its invariants after each turn and
 * compares its decisions with those that the live process recorded. Lines are given one by one, so that a trace need
 * not fit into memory.
 *
 * Ends at the first problem; later lines are not read.
 */
export class TraceReplay {
  readonly #options: ReplayOptions;
  readonly #inputCounts = new Map<string, number>();
  #lineCount = 0;
  #head: TraceHead | undefined;
  #machine: OpenMachine | undefined;
  /** The last turn that was read, until its outcome is. */
  #open: OpenTurn | undefined;
  #lastTurn = 0;
  #lastNow: Instant = 0;
  #turnCount = 0;
  #comparedCount = 0;
  #changeCount = 0;
  #commandCount = 0;
  #problem: ReplayProblem | undefined;
  #isOver = false;
  #end: { readonly error: string } | undefined;

  constructor(options: ReplayOptions) {
    this.#options = options;
  }

  /** Whether no further line is needed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Takes the next line, without its end. @throws {FormatError} MUT_TRACE_SYNTAX when it is none that can follow. */
  take(text: string): void {
    this.#lineCount += 1;
    if (this.#isOver) return;
    const line = decodeTraceLine(text);
    if (this.#head === undefined) this.#begin(line, text);
    else if (line === undefined) this.#refuse(showText(text), 'a line of a debugging trace');
    else this.#follow(line, text);
  }

  /** @param rest what follows the last end of a line. @throws {FormatError} MUT_TRACE_SYNTAX when there was no head. */
  finish(rest: string): ReplayReport {
    const isHalf = rest !== '' && !this.#isOver && this.#head !== undefined && decodeTraceLine(rest) === undefined;
    if (rest !== '' && !isHalf) this.take(rest);
    this.#checkLast();
    return {
      head: this.#getHead(),
      turnCount: this.#turnCount,
      comparedCount: this.#comparedCount,
      inputCounts: this.#inputCounts,
      changeCount: this.#changeCount,
      commandCount: this.#commandCount,
      span: this.#lastNow - this.#getHead().at,
      problem: this.#problem,
      end: this.#howEnded(),
      endError: this.#end?.error ?? '',
      isHalfLineDropped: isHalf,
    };
  }

  /** Of a turn whose outcome did not reach the file there is nothing to compare. */
  #checkLast(): void {
    if (this.#open?.decision !== undefined && this.#open.isWanted && this.#problem === undefined)
      this.#check(this.#open);
  }

  #getHead(): TraceHead {
    if (this.#head !== undefined) return this.#head;
    this.#lineCount = Math.max(this.#lineCount, 1);
    return this.#refuse(showText(''), 'the head of a debugging trace');
  }

  #howEnded(): ReplayReport['end'] {
    if (this.#end === undefined) return 'cut';
    return this.#end.error === '' ? 'stopped' : 'failed';
  }

  #begin(line: TraceLine | undefined, text: string): void {
    const version = findTraceVersion(text);
    if (version !== undefined && version !== traceVersion)
      this.#refuse(`a trace of version ${version}`, `one of version ${traceVersion}`);
    if (line?.kind !== 'head') this.#refuse(showText(text), 'the head of a debugging trace');
    try {
      this.#machine = openMachine(line.head);
    } catch (error) {
      this.#refuse(`a head with which no ${line.head.machine} can begin (${String(error)})`, 'one of this release');
    }
    this.#head = line.head;
    this.#lastNow = line.head.at;
    this.#options.onHead?.(line.head);
  }

  #follow(line: TraceLine, text: string): void {
    switch (line.kind) {
      case 'head':
        this.#refuse(showText(text), 'a turn');
        break;
      case 'inputs':
        this.#takeInputs(line, text);
        break;
      case 'outcome':
        this.#takeOutcome(line, text);
        break;
      case 'end':
        this.#takeEnd(line);
        break;
    }
  }

  #takeInputs(line: GetLine<'inputs'>, text: string): void {
    if (this.#open !== undefined) this.#refuse(showText(text), `the outcome of turn ${this.#lastTurn}`);
    if (line.turn !== this.#lastTurn + 1) this.#refuse(showText(text), `turn ${this.#lastTurn + 1}`);
    this.#lastTurn = line.turn;
    if (this.#isBeyond(line)) {
      this.#isOver = true;
      return;
    }
    this.#lastNow = line.now;
    this.#turnCount += 1;
    for (const { kind } of line.inputs as readonly { readonly kind: string }[])
      this.#inputCounts.set(kind, (this.#inputCounts.get(kind) ?? 0) + 1);
    this.#open = this.#run(line);
  }

  #isBeyond({ turn, now }: GetLine<'inputs'>): boolean {
    const { until } = this.#options;
    return (
      until !== undefined && (until.kind === 'turn' ? turn > until.turn : now - (this.#head?.at ?? 0) > until.time)
    );
  }

  #isBefore({ turn, now }: GetLine<'inputs'>): boolean {
    const { from } = this.#options;
    return from !== undefined && (from.kind === 'turn' ? turn < from.turn : now - (this.#head?.at ?? 0) < from.time);
  }

  #run(line: GetLine<'inputs'>): OpenTurn {
    const open = { ...line, line: this.#lineCount, isWanted: !this.#isBefore(line) };
    this.#report(open, 'input', line.inputs);
    const decision = this.#step(open);
    if (decision === undefined) return { ...open, decision };
    this.#changeCount += decision.changes.length;
    this.#commandCount += decision.commands.length;
    this.#report(open, 'change', decision.changes);
    this.#report(open, 'command', decision.commands);
    return { ...open, decision };
  }

  #step(open: Omit<OpenTurn, 'decision'>): Decision<unknown, unknown> | undefined {
    try {
      return this.#machine?.step(open.inputs, open.now);
    } catch (error) {
      this.#note(open, { kind: 'failure', message: `the step fails: ${String(error)}`, difference: undefined });
      return undefined; // The next line says how the process ended, and is the last that is read.
    }
  }

  #report(
    { now, turn, isWanted }: Omit<OpenTurn, 'decision'>,
    role: StoryEvent['role'],
    messages: readonly unknown[],
  ): void {
    const { onEvent } = this.#options;
    if (!isWanted || onEvent === undefined) return;
    for (const message of messages) onEvent({ now, turn, role, message: message as StoryEvent['message'] });
  }

  #takeOutcome(line: GetLine<'outcome'>, text: string): void {
    const open = this.#open;
    if (open === undefined || open.turn !== line.turn)
      return this.#refuse(
        showText(text),
        open === undefined ? 'the inputs of a turn' : `the outcome of turn ${open.turn}`,
      );
    this.#open = undefined;
    this.#isOver = open.decision === undefined;
    if (!open.isWanted || open.decision === undefined) return;
    this.#comparedCount += 1;
    const { changes, commands } = open.decision;
    const difference =
      findDifference(line.changes, changes, 'changes') ?? findDifference(line.commands, commands, 'commands');
    if (difference === undefined) return this.#check(open);
    this.#note(open, {
      kind: 'difference',
      message: `${difference.path} is not what the process recorded`,
      difference,
    });
    this.#isOver = true;
  }

  /** The live process checked after the step too, if at all. */
  #check(open: OpenTurn): void {
    try {
      this.#machine?.check();
    } catch (error) {
      this.#note(open, {
        kind: 'invariant',
        message: `an invariant is broken: ${String(error)}`,
        difference: undefined,
      });
      this.#isOver = true;
    }
  }

  #takeEnd({ error }: GetLine<'end'>): void {
    this.#end = { error };
    const open = this.#open;
    if (open?.decision !== undefined && open.isWanted) {
      this.#note(open, {
        kind: 'difference',
        message: `the step goes well here; in the process it failed: ${error}`,
        difference: undefined,
      });
    }
    this.#isOver = true;
  }

  #note(
    { turn, line, now, inputs }: Omit<OpenTurn, 'decision'>,
    problem: Pick<ReplayProblem, 'kind' | 'message' | 'difference'>,
  ): void {
    this.#problem ??= { turn, line, now, inputs, ...problem };
  }

  #refuse(found: string, expected: string): never {
    throw new FormatError({
      code: 'MUT_TRACE_SYNTAX',
      subject: this.#options.file,
      line: this.#lineCount,
      column: 1,
      found,
      expected,
    });
  }
}

function showText(text: string): string {
  if (text === '') return 'the end';
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}...` : text);
}
