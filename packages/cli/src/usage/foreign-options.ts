import { readArray, readDependency, readNice, readStart } from './foreign-values.ts';

/** What to write in place of an option that other systems have and that this command does not. */
export interface ForeignOption {
  /** The option as other systems write it. */
  readonly names: readonly string[];
  /** Whether a value follows it. */
  readonly hasValue: boolean;
  /** The words to write instead. Empty where the option is left out. */
  instead(value: string): readonly string[];
  /** Further remarks for the user; empty if the words are enough. */
  readonly why: string;
}

const words = (names: string, instead: (value: string) => readonly string[], why = ''): ForeignOption => ({
  names: names.split(' '),
  hasValue: true,
  instead,
  why,
});
const flags = (names: string, instead: readonly string[], why = ''): ForeignOption => ({
  names: names.split(' '),
  hasValue: false,
  instead: () => instead,
  why,
});

/** Slurm reads a bare number as minutes, `10:30` as minutes and seconds, and days before a hyphen. */
function readWalltime(text: string): string {
  if (/^\d+$/.test(text)) return `${text}m`;
  const days = /^(\d+)-(\d+)(?::(\d+))?(?::(\d+))?$/.exec(text);
  if (days !== null)
    return `${Number(days[1]) * 24 + Number(days[2])}h${days[3] === undefined ? '' : `${days[3]}m`}${days[4] === undefined ? '' : `${days[4]}s`}`;
  const short = /^(\d+):(\d+)$/.exec(text);
  return short === null
    ? text.replace(/:\d+$/, (end) => (/^\d+:\d+:\d+$/.test(text) ? end : ''))
    : `${short[1] ?? ''}m${short[2] ?? ''}s`;
}

/** A bare number is MiB to Slurm; Kubernetes writes `4Gi`. */
function readMemory(text: string): string {
  if (/^\d+$/.test(text)) return `${text}MiB`;
  return text.replace(
    /^(\d+(?:\.\d+)?)([KMGT])i?B?$/i,
    (_all, amount: string, unit: string) => `${amount}${unit.toUpperCase()}iB`,
  );
}

/** Kubernetes counts thousandths as `500m`, and Docker takes fractions. */
function readProcessors(text: string): string {
  const count = /^\d+m$/.test(text) ? Number(text.slice(0, -1)) / 1000 : Number(text);
  return Number.isFinite(count) && count > 0 ? String(Math.ceil(count)) : text;
}

/** Slurm writes `gpu:a100:2`, and leaves out what is usual. */
function readGpus(text: string): string {
  const words = text.replace(/^(?:gres:)?gpus?[:/]/, '').split(':');
  const count = words.find((word) => /^\d+(?:\.\d+)?$/.test(word)) ?? '1';
  const kind = words.find((word) => word !== '' && !/^\d/.test(word) && !/^gpus?$/.test(word));
  return kind === undefined ? count : `${count}:${kind}`;
}

const bulk = (value: string): string[] => (/^\d+$/.test(value) ? ['--array', `1-${value}`] : readArray(value));
const isRange = (value: string): boolean => /^\d+(?:-\d+|,\d)/.test(value);
const dependencies =
  '--after-ok waits until jobs have succeeded, --after-any until they have ended. A workflow file orders the tasks ' +
  'within a job (docs/guides/workflows.md).';
const output = 'What tasks print is kept: "mutirao task output last" shows it. --get brings other files home.';
const folder = 'Tasks start in an empty folder of their own; --put brings files there.';
const notSubmitted =
  'Mutirao passes such options to Slurm only where the provider is started: mutirao run provider --manager ' +
  'slurm -- --account=NAME';

/** For `job submit`, from Slurm, PBS, HTCondor, HyperQueue, GNU parallel, Kubernetes and Docker. */
const submitting: readonly ForeignOption[] = [
  words('--name --job-name --jobname --title -J', (value) => ['--label', value]),
  // The name of a job to PBS, and its nodes to Slurm.
  words('-N', (value) => (/^\d/.test(value) ? ['--gang', '--processors', value] : ['--label', value])),
  words('--cpu --cores --ncpus --nproc --cpus-per-task --request-cpus --ppn --threads -c', (value) => [
    '--processors',
    readProcessors(value),
  ]),
  words(
    '--ntasks --tasks --tasks-count --completions --queue-count -n',
    bulk,
    '--array starts that many tasks. Use --processors for a task that takes several processors.',
  ),
  words(
    '--nodes',
    (value) => ['--gang', '--processors', value],
    '--gang takes the processors of a task from several machines.',
  ),
  words('--time --walltime --time-limit --timeout --runtime --max-time --active-deadline-seconds', (value) => [
    '--limit-time',
    readWalltime(value),
  ]),
  words('-t', (value) => (isRange(value) ? bulk(value) : ['--limit-time', readWalltime(value)])),
  words(
    '--mem --mem-per-cpu --request-memory --memory-limit --rss -m',
    (value) => ['--memory', readMemory(value)],
    '--memory sets memory aside for each task, and ends a task that uses more.',
  ),
  words('-a --range --array-size --indexes', bulk),
  words('--output --error --log --logs --stdout --stderr -o --output-file --error-file', () => [], output),
  words('-e', (value) => (/^[A-Za-z_]\w*=/.test(value) ? ['--env', value] : []), output),
  words(
    '--export --environment --env-var',
    (value) => (/^[A-Za-z_]\w*=/.test(value) ? ['--env', value] : []),
    'Tasks do not get your environment; --env NAME=VALUE sets one variable.',
  ),
  words('--arg-file --from-file --args-file --input-values', (value) => ['--each-line', value]),
  words(
    '--volume --mount -v --input --inputs --transfer-input-files --upload --copy',
    (value) => ['--put', value.split(':')[0] ?? value],
    folder,
  ),
  words('--download --outputs --transfer-output-files --result --results', (value) => ['--get', value]),
  words('--constraint --require --node-selector --nodeselector -C', (value) => ['--requirements', value]),
  words('--max-retries --retry --backoff-limit --crash-limit --max-fails --restart', (value) => [
    '--retries',
    /^\d+$/.test(value) ? value : '2',
  ]),
  words(
    '--workdir --cwd --workingdir --initialdir --directory -D -w',
    (value) => ['--chdir', value],
    'Without --chdir tasks start in an empty folder of their own; --put brings files there.',
  ),
  words('--partition --queue -p --account -A --qos --clusters -M', () => [], notSubmitted),
  words(
    '--gres --gpu --gpus-per-task --gpus-per-node --request-gpus -G',
    (value) => ['--gpus', readGpus(value)],
    '--gpus is per task: 1, 0.5 (a share of one) or 2:a100 (of that kind).',
  ),
  words('--dependency --depends --depend --depends-on -d', readDependency, dependencies),
  words('-W', (value) => readDependency(value.replace(/^depend=/, '')), dependencies),
  words('--afterok --after-success -hold_jid --hold-jid --hold-job', (value) => readDependency(`afterok:${value}`)),
  words('--afterany', (value) => readDependency(`afterany:${value}`)),
  words('--afternotok', (value) => readDependency(`afternotok:${value}`)),
  words('--aftercorr', (value) => readDependency(`aftercorr:${value}`)),
  words(
    '--mail-type --mail-user --notify',
    () => [],
    'Mutirao sends no mail; "mutirao job wait last && COMMAND" runs a command at the end.',
  ),
  words('--max-running --max-parallel --max-concurrent --parallel --concurrency -tc', (value) => [
    '--running-max',
    value,
  ]),
  words(
    '--jobs --max-procs --parallelism -j -P',
    (value) => (/^\d+$/.test(value) ? ['--running-max', value] : []),
    'Without --running-max, as many tasks run at once as the machines have processors; "mutirao up --machines 4" ' +
      'starts a grid with four.',
  ),
  flags('--memory-auto', ['--memory', 'auto']),
  words(
    '--image --platform',
    () => [],
    'Tasks run as ordinary processes. To use a container, write its command after "--": docker run IMAGE ...',
  ),
  words('-f --file --filename --script --job-file', (value) => [value]),
  words('--wrap --command', () => [], 'The command comes after "--", in quotes where it is a line for the shell.'),
  words(
    '--nice',
    readNice,
    '--priority orders your jobs; each point counts as if the job was submitted an hour earlier.',
  ),
  words('--begin --begin-time --start-time --start-at --not-before --at', (value) => ['--begin', readStart(value)]),
  flags('--follow --attach --interactive --sync --block --synchronous', ['--wait']),
  flags(
    '--detach --background --parsable --rm --exclusive --overwrite --pin -i -it -b',
    [],
    'job submit returns as soon as the job is accepted, unless --wait is given.',
  ),
  flags(
    '--dry-run --test-only --bar',
    [],
    'A job is not tried out beforehand; "mutirao workflow show FILE" checks a workflow file.',
  ),
];

const listing: readonly ForeignOption[] = [
  flags('--all -a -A --all-namespaces --me --mine', [], 'All of your jobs are listed, those that have ended too.'),
  words('--state --states --filter -s -t', (value) => ['--status', value.toLowerCase()]),
  words('--limit --tail -n --last', (value) => ['--max', value]),
  words('--user -u', () => [], "A broker shows each user only that user's jobs."),
  words('--format --output -o', () => ['--json']),
  flags('--long -l --verbose -v', [], '"mutirao job show last" shows all that is known of a job.'),
  flags('--watch -w --follow -f', [], '"mutirao job wait last" follows a job, "mutirao events --follow" all of them.'),
];

const waiting: readonly ForeignOption[] = [
  words(
    '--timeout --for',
    () => [],
    'Waiting has no limit of its own; "timeout 60 mutirao job wait last" gives it one. The job goes on.',
  ),
  flags('--all -a', ['all']),
];

const cancelling: readonly ForeignOption[] = [
  flags('--all -a', ['all']),
  flags('--force --now -f -9 -y --yes', []),
  words('--signal -s', () => [], 'Tasks of a cancelled job are ended.'),
  words('--user -u', () => ['all'], '"all" means all jobs of yours that run.'),
];

const printing: readonly ForeignOption[] = [
  flags('-F --attach', ['--follow']),
  words('--tail --lines -n --since', () => [], 'Pipe the output into tail: mutirao task output last | tail'),
  words('--channel', (value) => (value === 'stderr' ? ['--stderr'] : ['--stdout'])),
];

/** By the words of a command. */
export const foreignOptions: Readonly<Record<string, readonly ForeignOption[]>> = {
  'job submit': submitting,
  'job list': listing,
  'task list': listing,
  'machine list': listing,
  'request list': listing,
  'job wait': waiting,
  waitforjob: waiting,
  'job cancel': cancelling,
  canceljob: cancelling,
  'task output': printing,
};
