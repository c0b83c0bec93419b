import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestFn } from 'ava';
import { Root } from '@mutirao/api/common';
import type { LeaseState } from '@mutirao/api/provider';
import { readToken, tokenPath } from '@mutirao/runtime/files';
import { callUnary } from '@mutirao/runtime/rpc';
import { HostileMachine, PretendBroker, Program, until, type HostileContent } from '@mutirao/testkit';

/** A provider of machines of a lab, and hostile brokers and machines at it. */
class Lab {
  readonly home = mkdtempSync(join(tmpdir(), 'mutirao-hostile-'));
  readonly provider = new Program('provider', ['--home', this.home, '--id', 'lab', '--manager', 'none', '--deputy-after', '200ms'], {});
  readonly brokers: PretendBroker[] = [];
  readonly machines: HostileMachine[] = [];

  async broker(name: string): Promise<PretendBroker> {
    const broker = new PretendBroker(name, this.provider.address, readToken(tokenPath(this.home)));
    this.brokers.push(broker);
    broker.connect();
    await until(() => broker.heard('settled').length > 0, 'the provider settles');
    return broker;
  }

  machine(name: string): HostileMachine {
    const machine = new HostileMachine(name, this.provider.address, { token: readToken(join(this.home, 'providers', 'lab', 'machine-token')), secret: `secret-of-${name}` });
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

serial.afterEach.always(async (t) => { await t.context.stop(); });

/** A lease of one task that reads a content. */
function leaseOf(content: HostileContent): Parameters<PretendBroker['send']>[0] {
  const template = { jobId: 1, userId: 'ana', command: 'cat in', noOp: false, environment: {}, limits: undefined, processors: 1, dropToken: '', homeChallenge: 'of-the-broker', dropProof: '' };
  const inputs = [{ root: Root.PLAYPEN, path: 'in', content, mode: 0o644 }];
  const start = { template, replicas: [{ replicaId: 1, taskIndex: 0, value: '', inputs, outputs: [] }] };
  return { $case: 'lease', value: { sequence: 1, horizonMs: 600_000, groups: [{ start, requirements: '', taskTimeMs: 0 }], caughtIdentities: [] } };
}

serial('a broker that says that a content is in a file of the provider\'s account gets nothing of that file', async (t) => {
  const { home, provider } = t.context;
  const broker = await t.context.broker('mallory');
  const machine = t.context.machine('accomplice');
  broker.demand(1);
  await until(() => broker.machines().length > 0, 'the machine joins');
  const path = tokenPath(home);
  // Its hash is of nothing: who is believed needs not know what a file holds.
  const content = { sha256: Buffer.alloc(32, 7), sizeBytes: readFileSync(path).length };
  let isNamed = false;
  broker.onMessage = (message) => {
    if (message.$case !== 'fromMachine' || message.value.machineId !== '' || message.value.message?.$case !== 'contentWanted') return;
    broker.toMachine('', { $case: 'content', value: { content, source: { $case: 'sharedPath', value: path }, offset: 0, linkable: false, pathProof: '' } });
    isNamed = true;
  };
  broker.send(leaseOf(content));
  await until(() => isNamed, 'the provider asks for what the leased task reads');
  const leases = async (): Promise<LeaseState[]> => (await callUnary(broker.client, 'getResource', {}, { deadlineMs: 60_000 })).leases;
  await until(async () => provider.log.some((line) => line.includes('without proof')) || (await leases())[0]?.unstockedTasks === 0, 'the provider believes the broker, or does not');
  const unstockedTasks = (await leases())[0]?.unstockedTasks;
  broker.leave();
  await until(() => machine.heard('hello').length > 1, 'the provider stands in for the broker and has its machine present itself');
  machine.want(content);
  machine.say({ $case: 'report', value: { sequence: 1, started: [], ended: [], gangHeld: [] } });
  await until(() => machine.heard('acknowledged').length > 0, 'what came before the report was answered');
  for (const transferId of machine.transferIds()) t.false((await machine.pull(transferId)).includes(readFileSync(path)), 'a machine got the token of the provider\'s home folder');
  t.is(unstockedTasks, 1);
});
