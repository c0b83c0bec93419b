import test from 'ava';

import {
  decodeMachineFacts,
  decodeReport,
  decodeStartGang,
  decodeStartReplicas,
  encodeMachineFacts,
  encodeReport,
  encodeStartGang,
  encodeStartReplicas,
} from '@mutirao/api/codecs';
import type { MachineFacts, MachineReport, StartGang, StartReplicas } from '@mutirao/core/messages';

import {
  MachineFacts as MachineFactsWire,
  Report,
  StartGang as StartGangWire,
  StartReplicas as StartReplicasWire,
} from '../../../src/generated/mutirao/machine/v1/machine.ts';

const secret = Buffer.alloc(32, 7);
const batch: StartReplicas = {
  template: {
    jobId: 1,
    userId: 'ana',
    command: 'mpirun',
    noOp: false,
    environment: {},
    limits: { runTimeMax: 0, memoryMax: 0, outputMax: 0 },
    processors: 3,
  },
  replicas: [
    {
      replicaId: 8,
      taskIndex: 2,
      value: '',
      inputs: [],
      outputs: [],
      gang: { gangId: 4, rank: 1, members: 3, secret },
    },
  ],
};
const start: StartGang = {
  replicaId: 8,
  members: [
    { rank: 0, name: 'ana@one', addresses: ['one:4000', '10.0.0.1:4000'], processors: 2 },
    { rank: 1, name: 'ana@two', addresses: ['two:4000'], processors: 3 },
  ],
};

interface MessageFns<T> {
  encode(message: T): { finish(): Uint8Array };
  decode(bytes: Uint8Array): T;
}

function sent<T>(type: MessageFns<T>, message: T): T {
  return type.decode(Buffer.from(type.encode(message).finish()));
}

test('what gangs need comes out as it went in', (t) => {
  t.deepEqual(decodeStartReplicas(sent(StartReplicasWire, encodeStartReplicas(batch))), batch);
  t.deepEqual(decodeStartGang(sent(StartGangWire, encodeStartGang(start))), start);
  const report: MachineReport = {
    sequence: 1,
    started: [],
    ended: [],
    gangMemberReady: [{ replicaId: 8, name: 'ana@two', addresses: ['two:4000'] }],
  };
  t.deepEqual(decodeReport(sent(Report, encodeReport(report))), report);
  const facts: MachineFacts = {
    machineId: 'alpha/1.0',
    incarnation: 'x',
    processors: 4,
    attributes: {},
    until: undefined,
    requestId: '',
    takesGangs: true,
  };
  t.deepEqual(decodeMachineFacts(sent(MachineFactsWire, encodeMachineFacts(facts))), facts);
});

test('a place in a gang that there cannot be is refused', (t) => {
  const wire = encodeStartReplicas(batch);
  const placed = (gang: object) => (): unknown =>
    decodeStartReplicas({
      ...wire,
      replicas: wire.replicas.map((replica) => ({
        ...replica,
        gang: { gangId: 4, rank: 1, members: 3, secret, ...gang },
      })),
    });
  t.throws(placed({ gangId: 0 }), { message: /gang_id is 0; expected 1 or more/ });
  t.throws(placed({ rank: 3 }), { message: /rank is 3; expected less than its 3 members/ });
  t.throws(placed({ members: 0 }), { message: /members is 0; expected 1 to/ });
  t.throws(placed({ secret: Buffer.alloc(16) }), { message: /secret has 16 bytes; expected 32/ });
});

test('a start of a gang that leaves something out, or names that are several words, are refused', (t) => {
  const wire = encodeStartGang(start);
  t.throws(() => decodeStartGang({ ...wire, members: [] }), { message: /has 0 members; expected 1 to/ });
  t.throws(() => decodeStartGang({ ...wire, members: [...wire.members].reverse() }), {
    message: /members\[0\].rank is 1; expected 0/,
  });
  t.throws(() => decodeStartGang({ ...wire, replicaId: 0 }), { message: /replica_id is 0/ });
  const changed = (change: object) => (): unknown =>
    decodeStartGang({ ...wire, members: wire.members.map((member) => ({ ...member, ...change })) });
  t.throws(changed({ name: 'a b' }), { message: /name is "a b"/ });
  t.throws(changed({ addresses: [] }), { message: /addresses is empty/ });
  t.throws(changed({ processors: 0 }), { message: /processors is 0/ });
  const held = (change: object) => (): unknown =>
    decodeReport({
      sequence: 1,
      started: [],
      ended: [],
      gangMemberReady: [{ replicaId: 8, name: 'a', addresses: ['b:1'], ...change }],
    });
  t.throws(held({ name: 'a\nb' }), { message: /gang_member_ready.name/ });
  t.throws(held({ addresses: [] }), { message: /gang_member_ready.addresses is empty/ });
  t.throws(held({ replicaId: 0 }), { message: /gang_member_ready.replica_id is 0/ });
});
