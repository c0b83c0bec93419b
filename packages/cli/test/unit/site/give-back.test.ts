import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import {
  RequestStatus,
  type DrainRequest,
  type GetResourceResponse,
  type ListRequestsResponse,
} from '@mutirao/api/provider';
import type { ProviderClient } from '@mutirao/runtime/clients';
import { giveBack } from '../../../src/site/give-back.ts';
import type { SiteRecord } from '../../../src/site/site-record.ts';

const site: SiteRecord = {
  name: 'uni',
  ssh: 'ana@front',
  sshOptions: [],
  manager: 'slurm',
  processors: 0,
  providerOptions: [],
  folder: '.mutirao',
  setup: '',
  program: '',
  address: '127.0.0.1:4711',
  isSynced: true,
  addedUnixMs: 1,
};

/** Gives back what a provider has of which this much is left each time that it is asked; the last stays. */
async function run(
  left: readonly (readonly [requests: number, machines: number])[],
  resourceKind = 'cluster',
): Promise<{ drains: DrainRequest[]; notes: string[]; waited: number }> {
  const [drains, notes]: [DrainRequest[], string[]] = [[], []];
  let [now, asked] = [0, 0];
  const current = (): readonly [number, number] => left[Math.min(asked, left.length - 1)] ?? [0, 0];
  const provider = {
    drain: (request: DrainRequest) => {
      drains.push(request);
      return Promise.resolve({});
    },
    getResource: () => Promise.resolve({ machines: current()[1], resourceKind } as GetResourceResponse),
    listRequests: () => {
      const statuses = Array.from({ length: 3 }, (_, index) =>
        index < current()[0] ? RequestStatus.RUNNING : RequestStatus.ENDED,
      );
      asked += 1;
      return Promise.resolve({ requests: statuses.map((status) => ({ status })) } as ListRequestsResponse);
    },
  } as Partial<ProviderClient> as ProviderClient;
  await giveBack(
    {
      provider: () => Promise.resolve(provider),
      clock: { now: () => now },
      sleep: (duration) => {
        now += duration;
        return Promise.resolve();
      },
      signal: new AbortController().signal,
      output: {
        note: (line: string) => {
          notes.push(line);
        },
      } as never,
    },
    site,
  );
  return { drains, notes, waited: now };
}

test('all that was asked for is given back, and waited for until requests and machines are gone', async (t) => {
  const { drains, notes, waited } = await run([
    [2, 4],
    [0, 4],
    [0, 0],
  ]);
  t.deepEqual(drains, [{ reason: 'the site is being removed', atOnce: true }]);
  t.deepEqual(notes, []);
  t.is(waited, 1000);
});

test('machines that are not allocated stay, and are not waited for', async (t) => {
  t.is((await run([[0, 4]], 'machines')).waited, 0);
});

test('requests that a manager does not end in time are reported', async (t) => {
  const { notes, waited } = await run([[1, 2]]);
  t.is(waited, 15_000);
  t.deepEqual(notes, ['left at ana@front: 1 requests and 2 machines, which end by themselves']);
});

test('a provider that cannot be reached is reported, and is not an error', async (t) => {
  const notes: string[] = [];
  await giveBack(
    {
      provider: () => Promise.reject(new MutiraoError('MUT_UNREACHABLE', 'nobody answers')),
      clock: { now: () => 0 },
      sleep: () => Promise.resolve(),
      signal: new AbortController().signal,
      output: {
        note: (line: string) => {
          notes.push(line);
        },
      } as never,
    },
    site,
  );
  t.deepEqual(notes, ['cannot ask the provider of uni to release its requests: nobody answers']);
});
