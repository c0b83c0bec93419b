import { MutiraoError } from '@mutirao/api/errors';

import { streamTopics, type StreamTopic } from '../../schema/index.ts';
import { ledgerDocument } from '../documents/ledger.ts';
import { machineOverview } from '../documents/machines.ts';
import { providerList } from '../documents/providers.ts';
import { readJobs, readSummary } from '../handlers/overview.ts';
import { readJobDetail, type JobSpecs } from '../job-specs.ts';
import type { Readings } from '../readings.ts';
import type { Source, Spec } from './stream-hub.ts';

/**
 * Between two reads of a level, in milliseconds: at most four messages a second of a topic, whatever finishes
 * meanwhile.
 */
const every = { fast: 250, usual: 1000, slow: 2000 } as const;

/**
 * Reads which topics a page subscribes to.
 *
 * @param topics `summary,jobs`; @param job the number of the job of the topic `job`.
 * @throws {MutiraoError} MUT_BAD_REQUEST
 */
export function readSpec(
  { topics, job }: { readonly topics: string; readonly job: string },
  lastId: string | undefined,
  { readings, specs }: { readonly readings: Readings; readonly specs: JobSpecs },
): Spec {
  const wanted = topics.split(',').filter((topic) => topic !== '');
  const unknown = wanted.find((topic) => !Object.hasOwn(streamTopics, topic));
  if (unknown !== undefined || wanted.length === 0)
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `topics is "${topics.slice(0, 100)}"; expected some of ${Object.keys(streamTopics).join(', ')}`,
    );
  const sources = new Map<string, Source>();
  for (const topic of wanted as StreamTopic[]) {
    if (topic === 'job')
      sources.set(`job:${readJobId(job)}`, {
        every: every.fast,
        read: () => readJobDetail(readings, specs, readJobId(job)),
      });
    else if (topic !== 'events' && topic !== 'link') sources.set(topic, getSource(topic, readings));
  }
  // Something has to be read for the state of the link to be known.
  if (sources.size === 0) sources.set('summary', getSource('summary', readings));
  return { sources, topics: new Set(wanted as StreamTopic[]), lastId };
}

function readJobId(text: string): number {
  if (!/^[1-9]\d{0,15}$/.test(text))
    throw new MutiraoError(
      'MUT_BAD_REQUEST',
      `job is "${text.slice(0, 40)}"; expected the number of a job with the topic "job"`,
    );
  return Number(text);
}

function getSource(topic: Exclude<StreamTopic, 'job' | 'events' | 'link'>, readings: Readings): Source {
  switch (topic) {
    case 'summary':
      return { every: every.fast, read: () => readSummary(readings) };
    case 'jobs':
      return { every: every.fast, read: () => readJobs(readings) };
    case 'machines':
      return { every: every.usual, read: async () => machineOverview((await readings.machines()).machines) };
    case 'providers':
      return {
        every: every.usual,
        read: async () => providerList((await readings.providers()).providers, (await readings.requests()).requests),
      };
    case 'ledger':
      return { every: every.slow, read: async () => ledgerDocument((await readings.ledger(0)).rows, undefined) };
  }
}
