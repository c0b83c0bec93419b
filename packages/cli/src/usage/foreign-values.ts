const optionsByCondition: Readonly<Record<string, string>> = {
  after: '--after',
  afterok: '--after-ok',
  afterany: '--after-any',
  afternotok: '--after-fail',
  aftercorr: '--after-each',
};

/**
 * Slurm writes `afterok:3:5,afterany:7`, with `?` in place of the comma for any of them and minutes as in `after:3+10`;
 * PBS adds the server to the number. A bare number is a job that must succeed.
 */
export function readDependency(text: string): string[] {
  const jobsByOption = new Map<string, string[]>();
  let option = '--after-ok';
  for (const part of text.split(/[,?]/)) {
    const [head = '', ...rest] = part.split(':');
    const named = optionsByCondition[head.toLowerCase()];
    option = named ?? option;
    const jobs = (named === undefined ? [head, ...rest] : rest).map(readJobNumber).filter((job) => job !== '');
    if (jobs.length > 0) jobsByOption.set(option, [...(jobsByOption.get(option) ?? []), ...jobs]);
  }
  return [...jobsByOption].flatMap(([name, jobs]) => [name, jobs.join(',')]);
}

function readJobNumber(text: string): string {
  return /^(?:job-?|#)?(\d+|last)/.exec(text)?.[1] ?? '';
}

/** Slurm's niceness lowers the priority of a job. */
export function readNice(text: string): string[] {
  const nice = /^[-+]?\d+$/.test(text) ? Number(text) : 100;
  return nice === 0 ? [] : ['--priority', String(Math.max(-1000, Math.min(1000, -nice)))];
}

const hoursByUnit: Readonly<Record<string, number>> = { d: 24, w: 168 };

/** Slurm counts from `now`, in seconds where no unit follows; a time span alone is meant from now on too. */
export function readStart(text: string): string {
  const [, now, amount, word] =
    /^(now\s*\+\s*)?(\d+)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|w|weeks?)?$/i.exec(text) ?? [];
  if (amount === undefined || (now ?? word) === undefined) return text;
  const unit = word?.charAt(0).toLowerCase() ?? 's';
  const hours = hoursByUnit[unit];
  return hours === undefined ? `+${amount}${unit}` : `+${Number(amount) * hours}h`;
}

/** Slurm writes the most tasks at once behind the numbers: `1-10%2`. */
export function readArray(text: string): string[] {
  const [, numbers, runningMax] = /^(.*)%(\d+)$/.exec(text) ?? [];
  return numbers === undefined || runningMax === undefined
    ? ['--array', text]
    : ['--array', numbers, '--running-max', runningMax];
}
