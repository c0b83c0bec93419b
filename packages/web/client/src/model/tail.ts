import type { TailMessage } from '../../../src/schema/index.ts';

/** The page keeps this many of the last characters of each stream of a running task. */
export const tailKept = 200_000;

/** The output of a task so far. */
export interface Tail {
  readonly replicaId: number;
  readonly machineId: string;
  readonly out: string;
  readonly errors: string;
  /** Whether the beginning, or something in between, is missing. */
  readonly isCut: boolean;
  readonly isUnreadable: boolean;
}

export const emptyTail: Tail = {
  replicaId: 0,
  machineId: '',
  out: '',
  errors: '',
  isCut: false,
  isUnreadable: false,
};

/** The tail after a message; another replica starts an empty one. */
export function takeTail(tail: Tail, message: TailMessage): Tail {
  const before = message.replica_id === tail.replicaId ? tail : emptyTail;
  const [out, errors] = [before.out + message.standard_output, before.errors + message.standard_error];
  return {
    replicaId: message.replica_id,
    machineId: message.machine_id,
    out: keepEnd(out),
    errors: keepEnd(errors),
    isCut: before.isCut || message.is_cut || out.length > tailKept || errors.length > tailKept,
    isUnreadable: message.is_unreadable,
  };
}

/** The end of a text, from the beginning of a line on where one begins soon. */
function keepEnd(text: string): string {
  if (text.length <= tailKept) return text;
  const end = text.slice(-tailKept);
  const line = end.indexOf('\n');
  return line >= 0 && line < 2000 ? end.slice(line + 1) : end;
}
