import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { JobStatus, type JobSummary } from '@mutirao/api/broker';
import { parseSelector, selectNumbers, type NumberRange, type Selector } from '@mutirao/formats';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { CommandContext } from './context.ts';

/**
 * The jobs that a selector means, each once. Of a range, those that exist and are the user's.
 *
 * @param among `running` keeps only those that have not ended where the selector is `all`.
 * @throws {MutiraoError} MUT_NOT_FOUND, before anything is done, where a number or an end of a range is not that of a
 * job; MUT_BAD_REQUEST when there are no jobs.
 */
export async function resolveJobs(
  broker: BrokerClient,
  text: string,
  among: 'any' | 'running' = 'any',
): Promise<JobSummary[]> {
  const selector = readSelector(text, 'job');
  if (selector.kind === 'all') {
    const jobs = await listJobsWithin(broker, { first: 1, last: undefined });
    return jobs.filter((job) => among === 'any' || job.status === JobStatus.RUNNING).reverse();
  }
  const [newest] = (await broker.listJobs({ pageSize: 1, beforeJobId: 0 })).jobs;
  if (newest === undefined)
    throw new MutiraoError('MUT_BAD_REQUEST', 'there are no jobs at this broker; "mutirao job submit" makes one');
  if (selector.kind === 'last') return [newest];
  const found = new Map<number, JobSummary>();
  const missing: string[] = [];
  for (const range of selector.ranges) {
    const jobs = await listRange(broker, range, newest);
    if (jobs.length === 0) missing.push(showRange(range));
    for (const job of jobs) found.set(job.jobId, job);
  }
  if (missing.length > 0) throw noSuch(text, { noun: 'job', missing, window: { first: 1, last: newest.jobId } });
  return [...found.values()];
}

/** The jobs of a range, none where one of its ends is not the number of a job. */
async function listRange(
  broker: BrokerClient,
  { first, count, step }: NumberRange,
  newest: JobSummary,
): Promise<JobSummary[]> {
  const last = first + (count - 1) * step;
  const isPossible = first >= 1 && last <= newest.jobId;
  return isPossible
    ? (await listJobsWithin(broker, { first, last })).filter(({ jobId }) => (jobId - first) % step === 0).reverse()
    : [];
}

/** The numbers of the jobs that a selector means. @throws {MutiraoError} as `resolveJobs`. */
export async function resolveJobIds(
  broker: BrokerClient,
  text: string,
  among: 'any' | 'running' = 'any',
): Promise<number[]> {
  return (await resolveJobs(broker, text, among)).map(({ jobId }) => jobId);
}

/** The one job that a selector means. @throws {MutiraoError} MUT_BAD_REQUEST when it means several. */
export async function resolveJobId(broker: BrokerClient, text: string): Promise<number> {
  const [first, ...others] = await resolveJobIds(broker, text);
  if (first === undefined || others.length > 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      first === undefined
        ? 'there are no jobs at this broker'
        : `"${text}" means ${others.length + 1} jobs; expected one, such as ${first}`,
    );
  return first;
}

/**
 * The tasks of a job that a selector means, each once.
 *
 * @param form `listed` lists all of them also for `all`; otherwise `all` is the empty list, as the API has it.
 * @throws {MutiraoError} MUT_NOT_FOUND where a number or the end of a range is not that of a task.
 */
export async function resolveTaskIndexes(
  broker: BrokerClient,
  jobId: number,
  text: string,
  form: 'short' | 'listed' = 'short',
): Promise<number[]> {
  const selector = readSelector(text, 'task');
  if (selector.kind === 'all' && form === 'short') return [];
  const { job } = await broker.getJob({ jobId });
  const window = { first: 0, last: (job?.taskCount ?? 0) - 1 };
  const missing =
    selector.kind === 'ranges'
      ? selector.ranges.filter(({ first, count, step }) => first + (count - 1) * step > window.last).map(showRange)
      : [];
  if (missing.length > 0) throw noSuch(text, { noun: 'task', missing, window, of: ` in job ${jobId}` });
  return selectNumbers(selector, window);
}

/** The one task that a word means. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function resolveTaskIndex(text: string): number {
  if (!/^\d+$/.test(text))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `"${text}" is not a task index; expected a whole number from 0, such as 0`,
    );
  return Number(text);
}

/** A provider's name and address: by its name at the broker, or by the address itself. */
export async function resolveProviderAddress(
  context: CommandContext,
  name: string,
): Promise<{ providerId: string; address: string }> {
  if (name.includes(':')) return { providerId: name, address: name };
  const providers = await listProviders(context).catch((error: unknown) => {
    // While the broker is away a provider is still asked, if it is one of this home folder.
    const address = localAddress(context.home, name);
    if (address === undefined) throw error;
    return [{ providerId: name, address }];
  });
  const found = providers.find((provider) => provider.providerId === name);
  if (found !== undefined) return { providerId: name, address: found.address };
  const known = providers.map((provider) => provider.providerId).join(', ');
  throw new MutiraoError(
    'MUT_BAD_REQUEST',
    `no provider is named "${name}"; expected ` +
      `${known === '' ? 'an address: there are none at this broker' : `one of ${known}`}`,
  );
}

/** Where a provider of a home folder listens; undefined where none of that name has run. */
function localAddress(home: string, name: string): string | undefined {
  if (!/^[\w.-]{1,64}$/.test(name)) return undefined;
  try {
    const { address } = JSON.parse(readFileSync(join(home, 'providers', name, 'provider.json'), 'utf8')) as {
      readonly address?: unknown;
    };
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined; // Nothing is there, or nothing that a provider wrote.
  }
}

async function listProviders(
  context: CommandContext,
): Promise<readonly { readonly providerId: string; readonly address: string }[]> {
  return (await (await context.broker()).listProviders()).providers;
}

/** Reads a selector; numbers as other systems write them are refused with ours. @throws {MutiraoError | FormatError} */
function readSelector(text: string, noun: 'job' | 'task'): Selector {
  const both = /^(?:job[-_/]?|j)?(\d+)[./](?:t)?(\d+)$/i.exec(text);
  if (both !== null) {
    throw new MutiraoError(
      'MUT_BAD_SELECTOR',
      `"${text}" is not the number of a ${noun}; expected job and task as two words: ${both[1] ?? ''} ${both[2] ?? ''}`,
    );
  }
  const decorated =
    /^(?:#|job[-_/#]?|task[-_/#]?|j|t)(\d+)$/i.exec(text)?.[1] ??
    /^\[(.*)\]$/.exec(text)?.[1] ??
    /^-(\d+)$/.exec(text)?.[1];
  if (decorated !== undefined)
    throw new MutiraoError('MUT_BAD_SELECTOR', `"${text}" is not the number of a ${noun}; expected ${decorated}`);
  return parseSelector(text);
}

function showRange({ first, count, step }: NumberRange): string {
  return count === 1 ? String(first) : `${first}-${first + (count - 1) * step}`;
}

/** @param of what the numbers are of; empty for jobs. */
function noSuch(
  text: string,
  {
    noun,
    missing,
    window,
    of = '',
  }: {
    readonly noun: string;
    readonly missing: readonly string[];
    readonly window: { readonly first: number; readonly last: number };
    readonly of?: string;
  },
): MutiraoError {
  const numbers =
    window.first === window.last ? `the only one is ${window.first}` : `they are ${window.first} to ${window.last}`;
  const isOne = missing.length === 1 && /^\d+$/.test(missing[0] ?? '');
  const found = missing.length === 1 && missing[0] === text ? '' : `"${text}": `;
  return new MutiraoError(
    'MUT_NOT_FOUND',
    `${found}there ${isOne ? `is no ${noun}` : `are no ${noun}s`} ${missing.join(', ')}${of}; ${numbers}`,
  );
}

const pageSize = 1000;

/** The user's jobs of a range, the newest first. @param last undefined for the newest. */
async function listJobsWithin(
  broker: BrokerClient,
  { first, last }: { readonly first: number; readonly last: number | undefined },
): Promise<JobSummary[]> {
  const jobs: JobSummary[] = [];
  const size = last === undefined ? pageSize : Math.min(pageSize, last - first + 1);
  for (let before = last === undefined ? 0 : last + 1; ; ) {
    const page = (await broker.listJobs({ pageSize: size, beforeJobId: before })).jobs;
    jobs.push(...page.filter(({ jobId }) => jobId >= first && (last === undefined || jobId <= last)));
    const oldest = page.at(-1)?.jobId ?? 0;
    if (page.length < size || oldest <= first) return jobs;
    before = oldest;
  }
}
