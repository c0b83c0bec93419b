/** What a walk over a message finds. */
export interface IdWalk {
  /** Every id that the message touches, once, in the order of its fields. */
  readonly ids: Set<string>;
  /**
   * The task that each replica runs, if the message says so: the task's ids (`t3`, and `j5.t3` if the job is known
   * too), then the replica's.
   */
  readonly runs: { readonly tasks: readonly string[]; readonly replica: string }[];
}

type Fields = Readonly<Record<string, unknown>>;

/** What enclosing objects said: ids below them are of that job and that provider. */
interface Scope {
  readonly jobId: unknown;
  readonly providerId: unknown;
}

/** How a number becomes an id, by the name of the field that it, or an array of it, stands in. */
const counters: Readonly<Record<string, string>> = {
  replicaId: 'r',
  replicaIds: 'r',
  heldReplicaIds: 'r',
  firstReplicaId: 'r',
  jobId: 'j',
  taskIndex: 't',
  taskIndexes: 't',
  requestId: 'c',
  sequence: 's',
  replyTo: 'ask',
};

/** Fields whose texts are ids as they stand. */
const names = new Set(['machineId', 'providerId', 'brokerId', 'requestId']);

/** The letters that begin the ids in a field of numbers; undefined for a field that holds none. */
export function findLetter(field: string): string | undefined {
  return Object.hasOwn(counters, field) ? counters[field] : undefined;
}

/** Finds ids by the names of fields, whichever machine the message is of. Cost: the size of the message. */
export function walkIds(message: unknown): IdWalk {
  const walk: IdWalk = { ids: new Set(), runs: [] };
  visit(walk, message, { jobId: undefined, providerId: undefined });
  return walk;
}

function visit(walk: IdWalk, value: unknown, scope: Scope): void {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return;
  if (Array.isArray(value) || value instanceof Set || value instanceof Map) {
    for (const part of value) visit(walk, part, scope);
    return;
  }
  const fields = value as Fields;
  const inner = getScope(fields, scope);
  for (const field of Object.keys(fields)) {
    addIds(walk, field, fields[field], inner);
    visit(walk, fields[field], inner);
  }
  addRuns(walk, fields, inner);
}

/** The job of a batch is in its template, not in the replicas. */
function getScope(fields: Fields, scope: Scope): Scope {
  const template = fields['template'] as Fields | undefined;
  return {
    jobId: fields['jobId'] ?? template?.['jobId'] ?? scope.jobId,
    providerId: fields['providerId'] ?? scope.providerId,
  };
}

function addIds(walk: IdWalk, field: string, value: unknown, scope: Scope): void {
  for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
    if (typeof each === 'number') addCounter(walk, findLetter(field), each, scope);
    else if (typeof each === 'string' && each !== '') addNames(walk, field, each, scope);
  }
}

/** Only tasks are counted from 0; elsewhere it means none. */
function addCounter({ ids }: IdWalk, letter: string | undefined, number: number, { jobId }: Scope): void {
  if (letter === undefined || (number === 0 && letter !== 't')) return;
  ids.add(`${letter}${number}`);
  if (letter === 't' && jobId !== undefined) ids.add(`j${String(jobId)}.t${number}`);
}

function addNames(walk: IdWalk, field: string, name: string, { providerId }: Scope): void {
  if (names.has(field)) walk.ids.add(name);
  if (field === 'requestId' && typeof providerId === 'string' && !name.includes('/'))
    walk.ids.add(`${providerId}/${name}`);
  // An embedded cluster counts its requests, and calls them by these numbers.
  if (field === 'managerRequestId') walk.ids.add(/^\d+$/.test(name) ? `c${name}` : name);
  if (field === 'sha256' || field === 'contentKey' || field === 'contentKeys')
    walk.ids.add(name.slice(name.lastIndexOf('/') + 1).slice(0, 12));
}

function addRuns(walk: IdWalk, fields: Fields, { jobId }: Scope): void {
  const { replicaId, taskIndex, firstReplicaId, taskIndexes } = fields;
  const getTasks = (index: number): string[] => [
    `t${index}`,
    ...(jobId === undefined ? [] : [`j${String(jobId)}.t${index}`]),
  ];
  if (typeof replicaId === 'number' && typeof taskIndex === 'number')
    walk.runs.push({ tasks: getTasks(taskIndex), replica: `r${replicaId}` });
  if (typeof firstReplicaId !== 'number' || !Array.isArray(taskIndexes)) return;
  for (const [offset, index] of (taskIndexes as number[]).entries()) {
    walk.ids.add(`r${firstReplicaId + offset}`);
    walk.runs.push({ tasks: getTasks(index), replica: `r${firstReplicaId + offset}` });
  }
}
