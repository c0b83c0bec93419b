import { quoteWord } from '@mutirao/runtime/processes';

/** Files of a job, on a disk that the nodes share. */
export interface JobPaths {
  /** Started once on each host. */
  readonly process: string;
  /** Where the job notes how it ended. */
  readonly ending: string;
}

/**
 * Renders the program that a job runs on its first host: it starts the processes of that host by itself, and those of
 * each other one
 * under Grid Engine's control.
 */
export function renderJob(paths: JobPaths, facts: string): string {
  const start = `/bin/sh ${quoteWord(paths.process)}`;
  const ending = quoteWord(paths.ending);
  return [
    '#!/bin/sh',
    'began=$(date +%s)',
    'PATH=$PATH:$SGE_ROOT/bin/${ARC:-}:${SGE_BINARY_PATH:-}',
    `elsewhere=${quoteWord(`exec ${start}`)}`,
    'first=0; started=; status=0',
    'if [ -r "${PE_HOSTFILE:-}" ]; then',
    '  while read -r host slots rest; do',
    '    if [ "$host" = "$HOSTNAME" ]; then',
    `      ${start} "$first" "$slots" </dev/null &`,
    '    else',
    '      qrsh -inherit -nostdin "$host" "$elsewhere $first $slots" </dev/null &',
    '    fi',
    '    started="$started $!"; first=$((first + slots))',
    '  done <"$PE_HOSTFILE"',
    'else',
    `  ${start} 0 1 </dev/null &`,
    '  started=$!',
    'fi',
    'for one in $started; do wait "$one" || status=$?; done',
    `echo "$JOB_ID $began $(date +%s) $status ${facts}" >${ending}.new && mv ${ending}.new ${ending}`,
    'exit "$status"',
    '',
  ].join('\n');
}
