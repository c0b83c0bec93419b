// A watcher over the real wire: messages that any client takes, and a place in each to resume from.
import {
  BrokerServiceClient,
  BrokerServiceService,
  type WatchJobRequest,
  type WatchJobResponse,
} from '@mutirao/api/broker';
import { createBrokerState, type BrokerChange } from '@mutirao/core/machines/broker';
import type { AllocationRequest } from '@mutirao/core/messages';
import { openJournal } from '@mutirao/runtime/journal';
import { quietLogger } from '@mutirao/runtime/log';
import { acceptToken, bind, dial, listMessages, serve, type Handlers } from '@mutirao/runtime/rpc';
import { discardSocket, forbidLeaks, freeSocket, HandTimers } from '@mutirao/testkit';
import test from 'ava';
import { JobWatchers } from '../../packages/broker/src/events/job-watchers.ts';
import { changeCodec } from '../../packages/broker/src/journal/change-codec.ts';
import type { BrokerParts } from '../../packages/broker/src/routes/broker-parts.ts';
import { watchJobRoute } from '../../packages/broker/src/routes/watch-job.ts';

forbidLeaks(test);

/** What gRPC clients of other languages take where nothing else is said. */
const usualBytesMax = 4 * 1024 * 1024;

/** A change of many requests that have much to say, and one of a single request. */
const changes = [requestsChanged(300), requestsChanged(1), requestsChanged(200)];

function requestsChanged(count: number): BrokerChange {
  const requests = Array.from(
    { length: count },
    (_, index): AllocationRequest => ({
      providerId: 'alpha',
      requestId: `q${index}`,
      managerRequestId: '',
      width: 1,
      walltime: 10_000,
      status: 'queued',
      seenAt: 0,
      submittedAt: 0,
      startedAt: 0,
      endedAt: 0,
      reasons: [{ code: 'provider-trouble', trouble: 'because '.repeat(3000) }],
      heuristic: 'static',
    }),
  );
  return { kind: 'RequestsChanged', providerId: 'alpha', requests };
}

async function served(use: (client: BrokerServiceClient) => Promise<void>): Promise<void> {
  const journal = openJournal({ path: ':memory:', codec: changeCodec });
  for (const change of changes) journal.record([change], 1);
  const parts = {
    journal,
    journalInstance: 'first',
    watchers: new JobWatchers(),
    timers: new HandTimers(),
    driver: { state: createBrokerState() },
  } as unknown as BrokerParts;
  const unserved = Object.fromEntries(
    Object.keys(BrokerServiceService).map((name) => [name, () => Promise.reject(new Error('not served'))]),
  );
  const handlers = { ...unserved, watchJob: watchJobRoute(parts) } as unknown as Handlers<typeof BrokerServiceService>;
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log: quietLogger,
    services: [bind(BrokerServiceService, handlers, { ownerId: 'ana' })],
  });
  const client = dial(BrokerServiceClient, server.address, { token: 'secret', messageBytesMax: usualBytesMax });
  try {
    await use(client);
  } finally {
    client.close();
    await server.drain(500);
    journal.close();
    discardSocket(server.address);
  }
}

/** Reads `count` messages, or until all have come. */
async function read(
  client: BrokerServiceClient,
  request: Partial<WatchJobRequest>,
  count = Infinity,
): Promise<WatchJobResponse[]> {
  const call = client.watchJob({ jobId: 0, afterSequence: 0, ...request });
  const messages: WatchJobResponse[] = [];
  try {
    for await (const message of listMessages(call)) {
      messages.push(message);
      if (message.events.length === 0 || messages.length >= count) break;
    }
  } finally {
    call.cancel();
  }
  return messages;
}

const namesOf = (messages: readonly WatchJobResponse[]): string[] =>
  messages.flatMap(({ events }) => events.map(({ sequence, requestId }) => `${sequence} ${requestId}`));
const all = changes.flatMap((change, index) =>
  change.kind === 'RequestsChanged' ? change.requests.map(({ requestId }) => `${index + 1} ${requestId}`) : [],
);

test('a change of many events comes in messages that a usual client takes', async (t) => {
  await served(async (client) => {
    const messages = await read(client, {});
    t.deepEqual(namesOf(messages), all);
    t.true(messages.length > 4);
    t.like(messages.at(-1), { events: [], lastSequence: changes.length, lastEventCount: undefined });
  });
});

test('a watcher that breaks off after each message and resumes gets each event once', async (t) => {
  await served(async (client) => {
    const got: WatchJobResponse[] = [];
    for (;;) {
      const last = got.at(-1);
      const [message] = await read(
        client,
        { afterSequence: last?.lastSequence ?? 0, afterEventCount: last?.lastEventCount },
        1,
      );
      if (message === undefined || message.events.length === 0) break;
      got.push(message);
    }
    t.deepEqual(namesOf(got), all);
    t.true(got.some(({ lastEventCount }) => lastEventCount !== undefined));
  });
});

test('a watcher that resumes by the sequence alone loses nothing', async (t) => {
  await served(async (client) => {
    const begun = await read(client, {}, 2);
    const messages = [...begun, ...(await read(client, { afterSequence: begun.at(-1)?.lastSequence ?? 0 }))];
    t.deepEqual([...new Set(namesOf(messages))], all);
  });
});

test('a sample sends a change of many events in such messages too', async (t) => {
  await served(async (client) => {
    const messages = await read(client, { changesPerSecondMax: 1000, lastChanges: 3 });
    t.deepEqual(namesOf(messages), all);
  });
});
