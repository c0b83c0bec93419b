import { quoteWord } from '@mutirao/runtime/processes';

/** Files of a job, on a disk that the nodes share. */
export interface JobPaths {
  /** Started once on each host. */
  readonly process: string;
  /** Where the job notes how it ended. */
  readonly ending: string;
  /** Where the output of the processes goes; left out where OAR writes it. */
  readonly log?: string;
}

/**
 * Renders the program that a job runs on its first host: it starts the processes of that host by itself, and those of
 * each other one by `oarsh`.
 */
export function renderJob(paths: JobPaths, facts: string): string {
  const start = `/bin/sh ${quoteWord(paths.process)}`;
  const ending = quoteWord(paths.ending);
  return [
    '#!/bin/sh',
    ...(paths.log === undefined ? [] : [`exec >>${quoteWord(paths.log)} 2>&1`]),
    'began=$(date +%s)',
    `elsewhere=${quoteWord(`exec ${start}`)}`,
    'first=0; started=; status=0; own=$(head -n 1 "$OAR_NODEFILE")',
    // A host is listed once for each of its resources.
    'for line in $(uniq -c "$OAR_NODEFILE" | sed "s/^ *\\([0-9]*\\) */\\1:/"); do',
    '  slots=${line%%:*}; host=${line#*:}',
    '  if [ "$host" = "$own" ]; then',
    `    ${start} "$first" "$slots" </dev/null &`,
    '  else',
    '    oarsh "$host" "$elsewhere $first $slots" </dev/null &',
    '  fi',
    '  started="$started $!"; first=$((first + slots))',
    'done',
    'for one in $started; do wait "$one" || status=$?; done',
    `echo "$OAR_JOB_ID $began $(date +%s) $status ${facts}" >${ending}.new && mv ${ending}.new ${ending}`,
    'exit "$status"',
    '',
  ].join('\n');
}
