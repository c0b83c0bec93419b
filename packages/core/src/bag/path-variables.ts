import type { JobId, MachineId, TaskIndex } from '../shared/index.ts';

/** Names, without the dollar sign, and values; of two names that fit, the first counts. */
export type PathVariables = readonly (readonly [name: string, value: string])[];

/** Where a task runs, for the variables of its paths. */
export interface PathPlace {
  readonly jobId: JobId;
  readonly taskIndex: TaskIndex;
  readonly machineId: MachineId;
  /** The machine's, as it states them. */
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * The variables of JDF's paths, in the order in which they are tried: `$JOB`, `$TASK`, `$PROC`, then each attribute of the
 * machine, longer names first.
 *
 * `$PROC` is `username@servername` where the machine states both, else the machine's id. Departs from OurGrid, which takes
 * the attributes in no particular order, so that `$os` could spoil `$osversion`.
 */
export function pathVariablesOf(place: PathPlace): PathVariables {
  const { username, servername } = place.attributes;
  const processor = username === undefined || servername === undefined ? place.machineId : `${username}@${servername}`;
  const attributes = Object.entries(place.attributes).sort(([left], [right]) => right.length - left.length);
  return [['JOB', String(place.jobId)], ['TASK', String(place.taskIndex)], ['PROC', processor], ...attributes];
}

/**
 * Replaces each `$NAME` in a path, as plain text: with JOB 3 and TASK 7 `$TASKID` is `7ID`, `\$JOB` is `\3`, and `${JOB}`
 * stays as it is. Unknown names stay; a value is not looked at again.
 */
export function expandPathVariables(text: string, variables: PathVariables): string {
  let expanded = '';
  let done = 0;
  for (let at = text.indexOf('$'); at !== -1; at = text.indexOf('$', at + 1)) {
    const variable = variables.find(([name]) => name !== '' && text.startsWith(name, at + 1));
    if (variable === undefined) continue;
    expanded += text.slice(done, at) + variable[1];
    done = at + 1 + variable[0].length;
  }
  return expanded + text.slice(done);
}
