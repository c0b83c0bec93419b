import { Metadata } from '@grpc/grpc-js';
import { MutiraoError } from '@mutirao/api/errors';
import {
  AttachRequest,
  GridMachineServiceClient,
  GridMachineServiceService,
  PushContentRequest,
  type AttachResponse,
} from '@mutirao/api/machine';
import type { Audit, AuditEntry } from '@mutirao/runtime/audit';
import { quietLogger } from '@mutirao/runtime/log';
import {
  acceptToken,
  bind,
  dial,
  listMessages,
  openSending,
  openStream,
  listRawMessages,
  serve,
  type CallContext,
  type Handlers,
  type MessageStream,
  type RunningServer,
} from '@mutirao/runtime/rpc';
import { discardSocket, forbidLeaks, freeSocket, until } from '@mutirao/testkit';
import test from 'ava';

forbidLeaks(test);

type Service = typeof GridMachineServiceService;
type Agent = MessageStream<AttachResponse, AttachRequest>;
type Relay = MessageStream<AttachRequest, AttachResponse>;

interface Grid {
  readonly client: GridMachineServiceClient;
  readonly server: RunningServer;
  attach(): Agent;
}

/** Serves machines; `parts` replaces what a test is about. @param audited gets the lines of the audit log. */
async function served(
  parts: Partial<Handlers<Service, 'pushContent'>>,
  use: (grid: Grid) => Promise<void>,
  audited: AuditEntry[] = [],
): Promise<void> {
  const binding = bind<Service, 'pushContent'>(
    GridMachineServiceService,
    {
      attach: (stream) => {
        stream.close();
      },
      pullContent: async () => undefined,
      pushContent: async () => Buffer.alloc(0),
      ...parts,
    },
    { raw: ['pushContent'] },
  );
  const audit: Audit = {
    record: (entry) => {
      audited.push(entry);
    },
    close: () => undefined,
  };
  const server = await serve({
    address: freeSocket(),
    tokens: acceptToken('secret', 'ana'),
    log: quietLogger,
    services: [binding],
    audit,
  });
  const client = dial(GridMachineServiceClient, server.address, { token: 'secret' });
  try {
    await use({ client, server, attach: () => openStream(client.attach()) });
  } finally {
    client.close();
    await server.drain(500);
    discardSocket(server.address);
  }
}

/** Notes all that comes in on a stream. */
class Notes<In> {
  readonly messages: In[] = [];
  hasEnded = false;
  readonly #closed = Promise.withResolvers<string>();
  /** The code that the stream closed with; `peace` without one. */
  readonly closed: Promise<string> = this.#closed.promise;
  onMessage(message: In): void {
    this.messages.push(message);
  }
  onEnd(): void {
    this.hasEnded = true;
  }
  onClosed(error: MutiraoError | undefined): void {
    this.#closed.resolve(error?.code ?? 'peace');
  }
}

const report = (sequence: number): AttachRequest => ({
  message: { $case: 'report', value: { sequence, started: [], ended: [], gangMemberReady: [] } },
});
const acknowledged = (sequence: number): AttachResponse => ({
  message: { $case: 'acknowledged', value: { sequence } },
});
const chunk = (text: string): PushContentRequest => ({
  ...PushContentRequest.decode(Buffer.alloc(0)),
  transferId: 't1',
  data: Buffer.from(text),
});
const drainOrder = (bytes: number): AttachResponse => ({
  message: { $case: 'drain', value: { reason: 'x'.repeat(bytes) } },
});

/** Echoes each report as its acknowledgement. */
function echo(stream: Relay): void {
  stream.listen({
    onMessage: ({ message }) => {
      if (message?.$case === 'report') stream.write(acknowledged(message.value.sequence));
    },
    onEnd: () => {
      stream.end();
    },
    onClosed: () => undefined,
  });
}

test.serial('messages keep their order both ways, and a stream that both sides end closes in peace', async (t) => {
  await served({ attach: echo }, async ({ attach }) => {
    const stream = attach();
    const notes = new Notes<AttachResponse>();
    stream.listen(notes);
    for (let sequence = 1; sequence <= 1000; sequence++) stream.write(report(sequence));
    stream.end();
    t.is(await notes.closed, 'peace');
    t.deepEqual(
      notes.messages,
      Array.from({ length: 1000 }, (_, index) => acknowledged(index + 1)),
    );
  });
});

test.serial('a server that closes a stream sends the reason, after what it has written', async (t) => {
  const attach = (stream: Relay): void => {
    stream.write(acknowledged(1));
    stream.close(new MutiraoError('MUT_WALLTIME_ENDED', 'the allocation is over'));
  };
  await served({ attach }, async (grid) => {
    const notes = new Notes<AttachResponse>();
    grid.attach().listen(notes);
    t.is(await notes.closed, 'MUT_WALLTIME_ENDED');
    t.deepEqual(notes.messages, [acknowledged(1)]);
  });
});

test.serial('a server is notified once of a client that leaves', async (t) => {
  const notes = new Notes<AttachRequest>();
  await served(
    {
      attach: (stream) => {
        stream.listen(notes);
      },
    },
    async ({ attach }) => {
      const stream = attach();
      const own = new Notes<AttachResponse>();
      stream.listen(own);
      stream.write(report(1));
      await until(() => notes.messages.length === 1, 'the report arrives');
      stream.close(new MutiraoError('MUT_CANCELLED', 'enough'));
      t.is(await notes.closed, 'MUT_CANCELLED');
      t.is(await own.closed, 'MUT_CANCELLED');
    },
  );
});

test.serial('a message that its listener refuses closes that stream with the code, and no other stream', async (t) => {
  const refuseSecond = (stream: Relay): void => {
    stream.listen({
      onMessage: ({ message }) => {
        if (message?.$case !== 'report' || message.value.sequence === 2)
          throw new MutiraoError('MUT_BAD_REQUEST', 'sequence is 2; expected another');
        stream.write(acknowledged(message.value.sequence));
      },
      onClosed: () => undefined,
    });
  };
  await served({ attach: refuseSecond }, async ({ attach }) => {
    const [bad, good] = [attach(), attach()];
    const [badNotes, goodNotes] = [new Notes<AttachResponse>(), new Notes<AttachResponse>()];
    bad.listen(badNotes);
    good.listen(goodNotes);
    for (const sequence of [1, 2, 3]) bad.write(report(sequence));
    t.is(await badNotes.closed, 'MUT_BAD_REQUEST');
    t.deepEqual(badNotes.messages, [acknowledged(1)]);
    good.write(report(9));
    await until(() => goodNotes.messages.length === 1, 'the other stream lives');
  });
});

test.serial('malformed bytes close their stream as a breach of the protocol', async (t) => {
  const notes = new Notes<AttachRequest>();
  await served(
    {
      attach: (stream) => {
        stream.listen(notes);
      },
    },
    async ({ client }) => {
      const keep = (bytes: Buffer): Buffer => bytes;
      const call = client.makeBidiStreamRequest(GridMachineServiceService.attach.path, keep, keep, new Metadata(), {});
      const stream = openStream(call);
      const own = new Notes<Buffer>();
      stream.listen(own);
      stream.write(Buffer.from(AttachRequest.encode(report(1)).finish()));
      stream.write(Buffer.from([0x12, 0xff, 0xff, 0xff]));
      t.is(await own.closed, 'MUT_PROTOCOL');
      t.is(await notes.closed, 'MUT_PROTOCOL');
      t.deepEqual(notes.messages, [report(1)]);
    },
  );
});

test.serial('a reader that pauses holds the writer back, until it goes on', async (t) => {
  const arrived = Promise.withResolvers<Relay>();
  await served(
    {
      attach: (stream) => {
        arrived.resolve(stream);
      },
    },
    async ({ attach }) => {
      const stream = attach();
      const notes = new Notes<AttachResponse>();
      stream.listen(notes);
      stream.pause();
      const writer = await arrived.promise;
      let written = 0;
      while (writer.write(drainOrder(100_000))) {
        written += 1;
        if (written % 8 === 0)
          await new Promise((resolve) => {
            setTimeout(resolve, 5);
          });
        if (written > 1000) break;
      }
      t.true(written < 200, `${written} messages of 100 kB were taken without a reader`);
      let isDrained = false;
      writer.onDrain = () => {
        isDrained = true;
      };
      stream.resume();
      await writer.drained();
      t.true(isDrained);
      writer.end();
      t.is(await notes.closed, 'peace');
      t.is(notes.messages.length, written + 1);
    },
  );
});

test.serial('a stream on which too much waits is closed, and its writer is notified', async (t) => {
  const arrived = Promise.withResolvers<Relay>();
  const notes = new Notes<AttachRequest>();
  await served(
    {
      attach: (stream) => {
        stream.listen(notes);
        arrived.resolve(stream);
      },
    },
    async ({ attach }) => {
      const stream = attach();
      stream.listen(new Notes<AttachResponse>());
      stream.pause();
      const writer = await arrived.promise;
      for (let count = 0; count < 20_000 && !writer.isClosed; count++) writer.write(drainOrder(2000));
      t.true(writer.isClosed);
      t.is(await notes.closed, 'MUT_PEER_TOO_SLOW');
      await t.throwsAsync(writer.drained(), { code: 'MUT_PEER_TOO_SLOW' });
      stream.close(new MutiraoError('MUT_CANCELLED', 'enough'));
    },
  );
});

test.serial('a stream that cannot be opened closes with the reason', async (t) => {
  await served({}, async ({ server }) => {
    const foreign = dial(GridMachineServiceClient, server.address, { token: 'guess' });
    const notes = new Notes<AttachResponse>();
    openStream(foreign.attach()).listen(notes);
    t.is(await notes.closed, 'MUT_UNAUTHENTICATED');
    foreign.close();
  });
});

test.serial('draining closes streams both ways at once and lets calls end', async (t) => {
  const asked = Promise.withResolvers<void>();
  const pullContent: Handlers<Service>['pullContent'] = async (_request, writer, { stopping }) => {
    asked.resolve();
    await new Promise((resolve) => {
      stopping.addEventListener('abort', resolve);
    });
    writer.write({ data: Buffer.from('last') });
  };
  await served({ attach: echo, pullContent }, async ({ attach, client, server }) => {
    const notes = new Notes<AttachResponse>();
    attach().listen(notes);
    const texts: string[] = [];
    const pulling = (async () => {
      for await (const { data } of listMessages(client.pullContent({ transferId: '1' }))) texts.push(data.toString());
    })();
    await asked.promise;
    const before = performance.now();
    await server.drain(10_000);
    t.true(performance.now() - before < 5000);
    t.is(await notes.closed, 'MUT_STOPPING');
    await pulling;
    t.deepEqual(texts, ['last']);
  });
});

test.serial('draining cuts off calls that do not end in time', async (t) => {
  await served({ pullContent: () => new Promise(() => undefined) }, async ({ client, server }) => {
    const pulling = (async () => {
      for await (const message of listMessages(client.pullContent({ transferId: '1' }))) t.fail(String(message));
    })();
    const refused = t.throwsAsync(pulling, { instanceOf: MutiraoError });
    await new Promise((resolve) => {
      client.waitForReady(Date.now() + 60_000, resolve);
    });
    await server.drain(100);
    await refused;
  });
});

test.serial('a stream of requests reaches a raw handler as the bytes that travel', async (t) => {
  const seen: Buffer[] = [];
  const pushContent = async (messages: AsyncIterable<Buffer>): Promise<Buffer> => {
    for await (const message of messages) seen.push(message);
    return Buffer.alloc(0);
  };
  await served({ pushContent }, async ({ client }) => {
    const { writer, response } = openSending<PushContentRequest, object>((done) => client.pushContent(done));
    const first = chunk('abc');
    writer.write(first);
    writer.end();
    t.deepEqual(await response, {});
    t.deepEqual(seen, [Buffer.from(PushContentRequest.encode(first).finish())]);
  });
});

test.serial('a sender receives the reason why its stream was refused, also while it waits for space', async (t) => {
  const pushContent = async (messages: AsyncIterable<Buffer>): Promise<Buffer> => {
    for await (const message of messages)
      if (message.length > 0) throw new MutiraoError('MUT_CONTENT_TOO_LARGE', 'more than nothing');
    return Buffer.alloc(0);
  };
  await served({ pushContent }, async ({ client }) => {
    const { writer, response } = openSending<PushContentRequest, object>((done) => client.pushContent(done));
    const error = await t.throwsAsync(
      (async () => {
        for (;;) {
          writer.write(chunk('x'.repeat(100_000)));
          await writer.drained();
        }
      })(),
      { instanceOf: MutiraoError },
    );
    t.is(error.code, 'MUT_CONTENT_TOO_LARGE');
    await t.throwsAsync(response, { code: 'MUT_CONTENT_TOO_LARGE' });
  });
});

test.serial('leaving a stream of answers early stops its server', async (t) => {
  const stopped = Promise.withResolvers<string>();
  const pullContent: Handlers<Service>['pullContent'] = async (_request, writer) => {
    try {
      for (;;) {
        writer.write({ data: Buffer.alloc(100_000) });
        await writer.drained();
        await new Promise((resolve) => {
          setImmediate(resolve);
        });
      }
    } catch (error) {
      stopped.resolve((error as MutiraoError).code);
      throw error;
    }
  };
  await served({ pullContent }, async ({ client }) => {
    for await (const message of listMessages(client.pullContent({ transferId: '1' })))
      if (message.data.length > 0) break;
    t.is(await stopped.promise, 'MUT_CANCELLED');
  });
});

test.serial('a call whose answers nobody reads yet is not made, so that its end cannot go unheard', async (t) => {
  const asked: string[] = [];
  const pullContent: Handlers<Service>['pullContent'] = async ({ transferId }) => {
    asked.push(transferId);
  };
  await served({ pullContent }, async ({ client }) => {
    const later = listRawMessages(client, GridMachineServiceService.pullContent, { transferId: 'later' });
    for await (const message of listRawMessages(client, GridMachineServiceService.pullContent, { transferId: 'first' }))
      t.fail(String(message));
    t.deepEqual(asked, ['first']);
    t.true((await later.next()).done);
    t.deepEqual(asked, ['first', 'later']);
  });
});

test.serial('a handler of a stream of requests does not wait for a sender that left', async (t) => {
  const begun = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  const pushContent = async (messages: AsyncIterable<Buffer>, { signal }: CallContext): Promise<Buffer> => {
    signal.addEventListener('abort', () => {
      left.resolve();
    });
    for await (const message of messages) begun.resolve(void message);
    return Buffer.alloc(0);
  };
  await served({ pushContent }, async ({ client }) => {
    const { writer, response, cancel } = openSending<PushContentRequest, object>((done) => client.pushContent(done));
    writer.write(chunk('abc'));
    await begun.promise;
    cancel();
    await left.promise;
    await t.throwsAsync(response, { code: 'MUT_CANCELLED' });
  });
});

test.serial(
  'a message that is refused on an open stream is in the audit log, once, with who sent it; a stream that breaks is not',
  async (t) => {
    const audited: AuditEntry[] = [];
    const codes = ['MUT_MACHINE_REMOVED', 'MUT_PROTOCOL', 'MUT_MACHINE_ATTACHED', 'MUT_DISK_FULL'] as const;
    const refuse = (stream: Relay): void => {
      stream.listen({
        onMessage: ({ message }) => {
          throw new MutiraoError(
            codes[message?.$case === 'report' ? message.value.sequence : 0] ?? 'MUT_INTERNAL',
            'a reason',
          );
        },
        onClosed: () => undefined,
      });
    };
    await served(
      { attach: refuse },
      async ({ attach }) => {
        for (const [sequence, code] of codes.entries()) {
          const stream = attach();
          const notes = new Notes<AttachResponse>();
          stream.listen(notes);
          stream.write(report(sequence));
          t.is(await notes.closed, code);
        }
      },
      audited,
    );
    const refused = {
      action: 'call.refuse',
      who: 'ana',
      from: 'socket',
      target: '/mutirao.machine.v1.GridMachineService/Attach',
      detail: 'a reason',
    };
    t.deepEqual(
      audited,
      codes.slice(0, 3).map((refusedWith) => ({ ...refused, refusedWith })),
    );
  },
);
