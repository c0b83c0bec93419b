import { escapeTemplate, quoteForShell } from '@mutirao/core/bag';

/** What is around the command of each job. */
export interface Surroundings {
  /** Where outputs are written, and where the file `stop` says that no job may begin. */
  readonly folder: string;
  readonly slots: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Makes the line of a task: its outputs go to files, so that they have no bound, and it does nothing once the jobs
 * must end.
 *
 * Functions that bash exports are defined again where the command names one: /bin/sh would not take them from the
 * environment.
 */
export function wrapCommand(command: string, { folder, slots, environment }: Surroundings): string {
  const place = escapeTemplate(quoteForShell(folder));
  const functions = listFunctions(command, environment);
  const shell = environment['PARALLEL_SHELL'] ?? (functions.length === 0 ? undefined : 'bash');
  const script = [...functions, command].join('\n');
  const inner = shell === undefined ? script : `exec ${quoteForShell(shell)} -c '${script.replaceAll("'", "'\\''")}'`;
  return [
    `[ -e ${place}/stop ] && exit 0`,
    `exec >${place}/{#}.out 2>${place}/{#}.err`,
    ...(command.includes('PARALLEL_JOBSLOT') ? [takeSlot(place, slots)] : []),
    inner,
  ].join('\n');
}

function listFunctions(command: string, environment: Surroundings['environment']): string[] {
  return Object.entries(environment).flatMap(([variable, body]) => {
    const name = /^BASH_FUNC_(.+)%%$/.exec(variable)?.[1];
    return name === undefined || body === undefined || !command.includes(name)
      ? []
      : [escapeTemplate(`${name} ${body}`)];
  });
}

/** The lowest number whose lock nobody holds; the system gives it back when the job has ended, however it ends. */
function takeSlot(place: string, slots: number): string {
  return [
    'PARALLEL_JOBSLOT=1',
    `until { exec 9>>${place}/slot.$PARALLEL_JOBSLOT && flock -n 9; }; do`,
    `PARALLEL_JOBSLOT=$((PARALLEL_JOBSLOT % ${slots} + 1))`,
    'done',
    'export PARALLEL_JOBSLOT',
  ].join('\n');
}
