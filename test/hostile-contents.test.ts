import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestFn } from 'ava';
import { Root } from '@mutirao/api/common';
import type { LeaseState } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary, openSending } from '@mutirao/runtime/rpc';
import { HostileMachine, inviteMachine, FakeBroker, Program, until, type HostileContent } from '@mutirao/testkit';

/** A provider of machines of a lab, and hostile brokers and machines at it. */
class Lab {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-hostile-'));
  readonly provider = new Program(
    'provider',
    ['--home', this.home, '--id', 'lab', '--manager', 'none', '--standby-after', '200ms'],
    {},
  );
  readonly brokers: FakeBroker[] = [];
  readonly machines: HostileMachine[] = [];

  async broker(name: string): Promise<FakeBroker> {
    const broker = new FakeBroker(name, this.provider.address, readToken(tokenPath(this.home)));
    this.brokers.push(broker);
    broker.connect();
    await until(() => broker.received('settled').length > 0, 'the provider settles');
    return broker;
  }

  async machine(name: string): Promise<HostileMachine> {
    const machine = new HostileMachine(name, this.provider.address, {
      given: await inviteMachine(this.home, 'lab', name),
      secret: `long-secret-of-${name}`,
    });
    this.machines.push(machine);
    machine.attach();
    return machine;
  }

  async stop(): Promise<void> {
    for (const one of [...this.brokers, ...this.machines]) one.close();
    await this.provider.kill('SIGTERM');
    rmSync(this.home, { recursive: true, force: true });
  }
}

const serial = test.serial as TestFn<Lab>;

serial.beforeEach(async (t) => {
  t.context = new Lab();
  await t.context.provider.start();
});

serial.afterEach.always(async (t) => {
  await t.context.stop();
});

/** A lease of one task that reads a content. */
function getLease(content: HostileContent): Parameters<FakeBroker['send']>[0] {
  const template = {
    jobId: 1,
    userId: 'ana',
    command: 'cat in',
    noOp: false,
    environment: {},
    limits: undefined,
    processors: 1,
    dropToken: '',
    homeChallenge: 'of-the-broker',
    dropProof: '',
  };
  const inputs = [{ root: Root.PLAYPEN, path: 'in', content, mode: 0o644 }];
  const start = { template, replicas: [{ replicaId: 1, taskIndex: 0, value: '', inputs, outputs: [] }] };
  return {
    $case: 'lease',
    value: {
      sequence: 1,
      horizonMs: 600_000,
      groups: [{ start, requirements: '', taskTimeMs: 0 }],
      quarantinedIdentities: [],
    },
  };
}

serial(
  "a broker that says that a content is in a file of the provider's account gets nothing of that file",
  async (t) => {
    const { home, provider } = t.context;
    const broker = await t.context.broker('mallory');
    const machine = await t.context.machine('accomplice');
    broker.demand(1);
    await until(() => broker.machines().length > 0, 'the machine joins');
    const path = tokenPath(home);
    // Its hash is of nothing: who is believed needs not know what a file holds.
    const content = { sha256: Buffer.alloc(32, 7), sizeBytes: readFileSync(path).length };
    let isNamed = false;
    broker.onMessage = (message) => {
      if (
        message.$case !== 'fromMachine' ||
        message.value.machineId !== '' ||
        message.value.message?.$case !== 'blobRequest'
      )
        return;
      broker.toMachine('', {
        $case: 'content',
        value: { content, source: { $case: 'sharedPath', value: path }, offset: 0, linkable: false, pathProof: '' },
      });
      isNamed = true;
    };
    broker.send(getLease(content));
    await until(() => isNamed, 'the provider asks for what the leased task reads');
    const leases = async (): Promise<LeaseState[]> =>
      (await callUnary(broker.client, 'getResource', {}, { deadlineMs: 60_000 })).leases;
    await until(
      async () =>
        provider.log.some((line) => line.includes('has not proved')) || (await leases())[0]?.unstockedTasks === 0,
      'the provider believes the broker, or does not',
    );
    const unstockedTasks = (await leases())[0]?.unstockedTasks;
    broker.leave();
    await until(
      () => machine.received('hello').length > 1,
      'the provider stands in for the broker and has its machine present itself',
    );
    machine.want(content);
    machine.say({ $case: 'report', value: { sequence: 1, started: [], ended: [], gangMemberReady: [] } });
    await until(() => machine.received('acknowledged').length > 0, 'what came before the report was answered');
    for (const transferId of machine.transferIds())
      t.false(
        (await machine.pull(transferId)).includes(readFileSync(path)),
        "a machine got the token of the provider's home folder",
      );
    t.is(unstockedTasks, 1);
  },
);

serial(
  'a machine that asks for a transfer that was offered to another gets nothing, and the other gets all of it',
  async (t) => {
    const broker = await t.context.broker('ana');
    const [victim, thief] = [await t.context.machine('victim'), await t.context.machine('thief')];
    broker.demand(2);
    await until(() => broker.machines().length === 2, 'the machines join');
    const bytes = randomBytes(200_000);
    const getOffer = (transferId: string): Parameters<FakeBroker['toMachine']>[1] => ({
      $case: 'content',
      value: {
        content: { sha256: Buffer.alloc(32, 1), sizeBytes: bytes.length },
        source: { $case: 'transferId', value: transferId },
        offset: 0,
        linkable: false,
        pathProof: '',
      },
    });
    broker.toMachine('lab/victim', getOffer('for-the-victim'));
    await until(() => victim.transferIds().length === 1, 'it is offered');
    const sending = openSending<{ transferId: string; data: Buffer }, unknown>((done) =>
      broker.client.sendContent(done),
    );
    sending.writer.write({ transferId: 'for-the-victim', data: bytes });
    sending.writer.end();
    for (const name of ['for-the-victim', 'of-nobody'])
      await t.throwsAsync(thief.pull(name), { code: 'MUT_CONTENT_NOT_FOUND' });
    t.true((await victim.pull('for-the-victim')).equals(bytes));
    await sending.response;
    await t.throwsAsync(
      victim.pull('for-the-victim'),
      { code: 'MUT_CONTENT_NOT_FOUND' },
      'what was taken is not offered any more',
    );
  },
);

serial('a machine cannot push in the name of another', async (t) => {
  const broker = await t.context.broker('ana');
  const [victim, thief] = [await t.context.machine('victim'), await t.context.machine('thief')];
  broker.demand(2);
  await until(() => broker.machines().length === 2, 'the machines join');
  await t.throwsAsync(thief.push('forged', { sha256: Buffer.alloc(32), sizeBytes: 1 }, Buffer.from('x'), victim.name), {
    code: 'MUT_CREDENTIAL_COPIED',
  });
});
