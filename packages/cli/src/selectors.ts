import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { MutiraoError } from '@mutirao/api/errors';
import { JobStatus, type JobSummary } from '@mutirao/api/broker';
import { parseSelector, selectNumbers, type Selector } from '@mutirao/formats';

import type { BrokerClient } from '@mutirao/runtime/clients';
import type { CommandContext } from './context.ts';

/**
 * The jobs that a selector means, each once.
 *
 * @param among `running` keeps only those that have not ended where the selector is `all`.
 * @throws {MutiraoError} MUT_BAD_REQUEST when it means none because there are none.
 */
export async function resolveJobIds(broker: BrokerClient, text: string, among: 'any' | 'running' = 'any'): Promise<number[]> {
  const selector = parseSelector(text);
  if (selector.kind === 'all') {
    const jobs = await listAllJobs(broker);
    return jobs.filter((job) => among === 'any' || job.status === JobStatus.RUNNING).map((job) => job.jobId).reverse();
  }
  const [newest] = (await broker.listJobs({ pageSize: 1, beforeJobId: 0 })).jobs;
  if (newest === undefined) throw new MutiraoError('MUT_BAD_REQUEST', 'there are no jobs at this broker');
  return selector.kind === 'last' ? [newest.jobId] : withinOrRefused(selector, { first: 1, last: newest.jobId }, text, 'jobs');
}

/** The one job that a selector means. @throws {MutiraoError} MUT_BAD_REQUEST when it means several. */
export async function resolveJobId(broker: BrokerClient, text: string): Promise<number> {
  const [first, ...others] = await resolveJobIds(broker, text);
  if (first === undefined || others.length > 0) throw new MutiraoError('MUT_BAD_REQUEST', `"${text}" means ${others.length + 1} jobs; want one`);
  return first;
}

/**
 * The tasks of a job that a selector means, each once.
 *
 * @param form `listed` lists all of them also for `all`; otherwise `all` is the empty list, as the API has it.
 */
export async function resolveTaskIndexes(broker: BrokerClient, jobId: number, text: string, form: 'short' | 'listed' = 'short'): Promise<number[]> {
  const selector = parseSelector(text);
  if (selector.kind === 'all' && form === 'short') return [];
  const { job } = await broker.getJob({ jobId });
  return withinOrRefused(selector, { first: 0, last: (job?.taskCount ?? 0) - 1 }, text, `tasks of job ${jobId}`);
}

/** The one task that a word means. @throws {MutiraoError} MUT_BAD_REQUEST. */
export function resolveTaskIndex(text: string): number {
  if (!/^\d+$/.test(text)) throw new MutiraoError('MUT_BAD_REQUEST', `"${text}" is no task index; want an integer from 0 on`);
  return Number(text);
}

/** A provider's name and address: by its name at the broker, or by the address itself. */
export async function resolveProviderAddress(context: CommandContext, name: string): Promise<{ providerId: string; address: string }> {
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
  throw new MutiraoError('MUT_BAD_REQUEST', `no provider is named "${name}"; want ${known === '' ? 'an address: there are none at this broker' : `one of ${known}`}`);
}

/** Where a provider of a home folder listens; undefined where none of that name has run. */
function localAddress(home: string, name: string): string | undefined {
  if (!/^[\w.-]{1,64}$/.test(name)) return undefined;
  try {
    const { address } = JSON.parse(readFileSync(join(home, 'providers', name, 'provider.json'), 'utf8')) as { readonly address?: unknown };
    return typeof address === 'string' ? address : undefined;
  } catch {
    return undefined; // Nothing is there, or nothing that a provider wrote.
  }
}

async function listProviders(context: CommandContext): Promise<readonly { readonly providerId: string; readonly address: string }[]> {
  return (await (await context.broker()).listProviders()).providers;
}

function withinOrRefused(selector: Selector, window: { first: number; last: number }, text: string, what: string): number[] {
  const numbers = selectNumbers(selector, window);
  if (numbers.length > 0) return numbers;
  throw new MutiraoError('MUT_BAD_REQUEST', `"${text}" means none of the ${what}; they are ${window.first} to ${window.last}`);
}

const pageSize = 1000;

async function listAllJobs(broker: BrokerClient): Promise<JobSummary[]> {
  const jobs: JobSummary[] = [];
  for (;;) {
    const page = (await broker.listJobs({ pageSize, beforeJobId: jobs.at(-1)?.jobId ?? 0 })).jobs;
    jobs.push(...page);
    if (page.length < pageSize) return jobs;
  }
}
