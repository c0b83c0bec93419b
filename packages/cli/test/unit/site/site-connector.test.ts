import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import type { UpSite } from '../../../src/site/bring-up.ts';
import { keepSite, type ConnectorParts, type SiteLink } from '../../../src/site/site-connector.ts';

const up: UpSite = {
  facts: {
    system: 'Linux x86_64',
    base: '/home/ana/.mutirao',
    providerPid: 7,
    providerAddress: '127.0.0.1:1',
    program: 'a',
    isOutdated: false,
  },
  address: '127.0.0.1:2',
  token: 't',
  processes: { provider: { pid: 7, program: 'a' } },
};
const broken = new MutiraoError('MUT_UNREACHABLE', 'the connection is closed');

/**
 * Plays connections one after the other; each is how long it lasts, or why it does not come up. Time stands still but
 * for these and the pauses.
 */
async function play(
  script: readonly (number | MutiraoError | 'gone')[],
  parts: Partial<ConnectorParts> = {},
): Promise<{ reported: string[]; pauses: number[]; closed: number; failure?: unknown }> {
  const controller = new AbortController();
  const reported: string[] = [];
  const pauses: number[] = [];
  const left = [...script];
  let [now, closed] = [0, 0];
  const link: SiteLink = {
    bringUp: () => Promise.resolve(up),
    untilGone: () => {
      const next = left.shift();
      if (next === 'gone') return Promise.resolve();
      if (next === undefined) controller.abort();
      if (typeof next === 'number') now += next;
      return Promise.reject(broken);
    },
    close: () => {
      closed += 1;
    },
  };
  const failure: unknown = await keepSite({
    isSynced: true,
    signal: controller.signal,
    now: () => now,
    random: () => 0.5,
    open: () =>
      left[0] instanceof MutiraoError ? Promise.reject(left.shift() as MutiraoError) : Promise.resolve(link),
    onUp: () => {
      reported.push('up');
    },
    onState: (status, trouble) => {
      reported.push(trouble === undefined ? status : `${status} ${trouble.code}`);
    },
    sleep: (duration) => {
      pauses.push(duration);
      now += duration;
      return Promise.resolve();
    },
    ...parts,
  }).catch((error: unknown) => error);
  return { reported, pauses, closed, ...(failure === undefined ? {} : { failure }) };
}

test('a lost connection is made again, and each is closed', async (t) => {
  const { reported, closed, pauses } = await play([60_000, 60_000]);
  t.deepEqual(reported, [
    'connecting',
    'up',
    'waiting MUT_UNREACHABLE',
    'connecting',
    'up',
    'waiting MUT_UNREACHABLE',
    'connecting',
    'up',
  ]);
  t.is(closed, 3);
  t.deepEqual(pauses, [1000, 1000]);
});

test('pauses grow to a minute while nothing works, and are short again after what lasted', async (t) => {
  const { pauses } = await play([broken, broken, broken, broken, broken, broken, broken, broken, 60_000, broken]);
  t.deepEqual(pauses, [1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 1000, 2000]);
});

test('what time does not mend is tried again seldom', async (t) => {
  const { pauses } = await play([new MutiraoError('MUT_SSH_DENIED', 'no'), new MutiraoError('MUT_SSH_HOST_KEY', 'no')]);
  t.deepEqual(pauses, [600_000, 600_000]);
});

test('a provider that is gone is started again over the same connection, after a pause when it goes at once', async (t) => {
  const { reported, closed, pauses } = await play(['gone', 'gone']);
  t.deepEqual(reported, ['connecting', 'up', 'waiting', 'up', 'waiting', 'up']);
  t.is(closed, 1);
  t.deepEqual(pauses, [1000, 2000]);
});

test('a site that never worked is given up at once, with the reason', async (t) => {
  const { reported, failure } = await play([broken], { isSynced: false });
  t.deepEqual(reported, ['connecting', 'failed MUT_UNREACHABLE']);
  t.is(failure, broken);
});

test('a site that worked once is waited for from then on', async (t) => {
  const { reported } = await play([5, broken], { isSynced: false });
  t.deepEqual(
    reported.filter((word) => word.startsWith('waiting')),
    ['waiting MUT_UNREACHABLE', 'waiting MUT_UNREACHABLE'],
  );
});

test('a bug ends the connector instead of a retry', async (t) => {
  const bug = new TypeError('bug');
  t.is((await play([], { open: () => Promise.reject(bug) })).failure, bug);
});
