import { parseObject } from '../shared/index.ts';
import type { Instant } from '../shared/index.ts';
import { decodeValue } from './decode-value.ts';
import { encodeValue } from './encode-value.ts';

/** The version of the format of debugging traces. */
export const traceVersion = 1;

/** The processes whose machines can be traced. */
export const tracedMachines = ['broker', 'provider', 'agent', 'cluster'] as const;
/** One of them. */
export type TracedMachine = (typeof tracedMachines)[number];

/** How a machine began, in plain values; each machine has its own form of options and state. */
export interface Beginning {
  readonly options: unknown;
  /** A snapshot from before the first turn; undefined for a machine that always begins with nothing. */
  readonly state: unknown;
}

/** The first line of a trace. */
export interface TraceHead extends Beginning {
  readonly machine: TracedMachine;
  /** The release of Mutirao that wrote it. */
  readonly release: string;
  /** When the process took over the state. */
  readonly at: Instant;
}

/**
 * A line of a trace. The inputs of a turn are written before its step is run, so that a step that kills the process is
 * in the trace.
 */
export type TraceLine =
  | { readonly kind: 'head'; readonly head: TraceHead }
  /** Turns are counted from 1. */
  | { readonly kind: 'inputs'; readonly turn: number; readonly now: Instant; readonly inputs: readonly unknown[] }
  | {
      readonly kind: 'outcome';
      readonly turn: number;
      readonly changes: readonly unknown[];
      readonly commands: readonly unknown[];
    }
  /** `error` is empty for a driver that was stopped. */
  | { readonly kind: 'end'; readonly error: string };

/** Writes a line, its end included. */
export function encodeTraceLine(line: TraceLine): string {
  switch (line.kind) {
    case 'head':
      return `{"trace":"mutirao","version":${traceVersion},${encodeValue(line.head).slice(1)}\n`;
    case 'inputs':
      return `{"turn":${line.turn},"now":${line.now},"inputs":${encodeValue(line.inputs)}}\n`;
    case 'outcome':
      return `{"turn":${line.turn},"changes":${encodeValue(line.changes)},"commands":${encodeValue(line.commands)}}\n`;
    case 'end':
      return `{"end":${encodeValue(line.error)}}\n`;
  }
}

/** The version that a trace header states; undefined if the text is not a trace header. */
export function findTraceVersion(text: string): number | undefined {
  const { trace, version } = parseObject(text) ?? {};
  return trace === 'mutirao' && isCount(version) ? version : undefined;
}

/** Reads a line, given without its end; undefined if the text is not a line of a trace of this version. */
export function decodeTraceLine(text: string): TraceLine | undefined {
  const raw = parseObject(text);
  if (raw === undefined) return undefined;
  try {
    const line = decodeValue(raw) as RawLine;
    if ('trace' in raw) return readHead(line);
    if ('inputs' in raw) return readInputs(line);
    if ('changes' in raw) return readOutcome(line);
    return typeof line['end'] === 'string' ? { kind: 'end', error: line['end'] } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

type RawLine = Readonly<Record<string, unknown>>;

function readHead({ trace, version, machine, release, at, options, state }: RawLine): TraceLine | undefined {
  const known = tracedMachines.find((name) => name === machine);
  if (
    trace !== 'mutirao' ||
    version !== traceVersion ||
    known === undefined ||
    typeof release !== 'string' ||
    typeof at !== 'number'
  )
    return undefined;
  return { kind: 'head', head: { machine: known, release, at, options, state } };
}

function readInputs({ turn, now, inputs }: RawLine): TraceLine | undefined {
  return isCount(turn) && typeof now === 'number' && isMessages(inputs)
    ? { kind: 'inputs', turn, now, inputs }
    : undefined;
}

function readOutcome({ turn, changes, commands }: RawLine): TraceLine | undefined {
  return isCount(turn) && isMessages(changes) && isMessages(commands)
    ? { kind: 'outcome', turn, changes, commands }
    : undefined;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 1;
}

function isMessages(value: unknown): value is readonly { readonly kind: string }[] {
  return (
    Array.isArray(value) &&
    value.every(
      (part: unknown) => typeof part === 'object' && part !== null && 'kind' in part && typeof part.kind === 'string',
    )
  );
}
