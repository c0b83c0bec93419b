import { randomBytes } from 'node:crypto';
import { connect, createServer, type AddressInfo } from 'node:net';
import { connect as connectTls } from 'node:tls';
import test, { type ExecutionContext } from 'ava';
import { startPiped } from '@mutirao/runtime/processes';
import { isAlive, until } from '@mutirao/testkit';
import { dialMember, type ChannelKey } from '../../packages/agent/src/gang/channel.ts';
import type { Connection } from '../../packages/agent/src/gang/connection.ts';
import { encodeFrame, type Frame } from '../../packages/agent/src/gang/frames.ts';
import { Link } from '../../packages/agent/src/gang/link.ts';
import { Member } from '../../packages/agent/src/gang/member.ts';

const patience = { pingInterval: 100, silenceMax: 600 };
const suite = { ciphers: 'ECDHE-PSK-CHACHA20-POLY1305', minVersion: 'TLSv1.2', maxVersion: 'TLSv1.2' } as const;

interface Rig {
  readonly key: ChannelKey;
  readonly member: Member;
  readonly address: string;
  readonly pids: number[];
  readonly lost: string[];
}

async function startMember(t: ExecutionContext, { linkPatience = 60_000, outputMax = 0 } = {}): Promise<Rig> {
  const key: ChannelKey = { gangId: 7, rank: 1, secret: randomBytes(32) };
  const pids: number[] = [];
  const lost: string[] = [];
  const member = await Member.hold({
    key,
    hosts: ['127.0.0.1'],
    killGrace: 300,
    linkPatience,
    patience,
    outputMax,
    onOutputMax: (bytes) => {
      lost.push(`wrote ${bytes > outputMax ? 'too much' : bytes}`);
    },
    onLost: (detail) => {
      lost.push(detail);
    },
    start: (command, onClosed) => {
      const started = startPiped({
        command: '/bin/sh',
        args: ['-c', command],
        env: { PATH: process.env['PATH'] ?? '' },
        cwd: '/',
        onClosed,
      });
      pids.push(started.pid ?? 0);
      return started;
    },
  });
  t.teardown(() => {
    member.close();
  });
  return { key, member, address: member.addresses[0] ?? '', pids, lost };
}

/** Frames that came over a connection, and why it was closed once it was. */
function receive(connection: Connection): { frames: Frame[]; closed: string[] } {
  const received = { frames: [] as Frame[], closed: [] as string[] };
  connection.listen({
    onFrame: (frame) => {
      received.frames.push(frame);
    },
    onDrained: () => undefined,
    onClosed: (reason) => {
      received.closed.push(reason);
    },
  });
  return received;
}

const run = (line: string): Frame => ({ kind: 'run', command: Buffer.from(line) });

function hostAndPort(address: string): { host: string; port: number } {
  const [host = '', port = ''] = address.split(':');
  return { host, port: Number(port) };
}

/** Whether a member still serves: it runs the command of an authorized caller. */
async function isServing(rig: Rig): Promise<boolean> {
  const connection = await dialMember([rig.address], rig.key, 5000, patience);
  const received = receive(connection);
  connection.send(run('echo fine'));
  await until(
    () => received.frames.some(({ kind }) => kind === 'exit') || received.closed.length > 0,
    'the command ends',
  );
  connection.close('');
  return received.frames.some((frame) => frame.kind === 'output' && frame.bytes.toString() === 'fine\n');
}

test.serial('without the secret, or with the rank of another member, nobody is served', async (t) => {
  const rig = await startMember(t);
  rig.member.begin();
  const { key, address } = rig;
  for (const foreign of [
    { ...key, secret: randomBytes(32) },
    { ...key, rank: 2 },
    { ...key, gangId: 8 },
  ]) {
    await t.throwsAsync(dialMember([address], foreign, 5000, patience), { code: 'MUT_GANG_CHANNEL_FAILED' });
  }
  // TLS without a key of any kind, and with the key in a suite whose records can be read once the key is known.
  for (const options of [
    {},
    { ciphers: 'PSK-AES128-GCM-SHA256', pskCallback: () => ({ psk: key.secret, identity: 'gang 7 rank 1' }) },
  ]) {
    const socket = connectTls({ ...hostAndPort(address), rejectUnauthorized: false, ...options });
    const error = await new Promise<Error>((resolve, reject) => {
      socket.once('error', resolve);
      socket.once('secureConnect', () => {
        reject(new Error('a foreign is let in'));
      });
    });
    t.truthy(error);
  }
  t.deepEqual(rig.pids, []);
  t.true(await isServing(rig));
});

test.serial("a process that takes a member's port without the secret learns nothing from rank 0", async (t) => {
  const said: Buffer[] = [];
  const server = createServer((socket) => {
    socket.on('data', (chunk) => {
      said.push(chunk);
    });
    socket.on('error', () => undefined);
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  t.teardown(() => {
    server.close();
  });
  const address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const key = { gangId: 7, rank: 1, secret: randomBytes(32) };
  await t.throwsAsync(dialMember([address], key, 5000), { code: 'MUT_GANG_CHANNEL_FAILED' });
  t.false(Buffer.concat(said).includes(key.secret));
  // Of several addresses the one that answers is taken, whatever is at the others.
  const rig = await startMember(t);
  const connection = await dialMember([address, '127.0.0.1:1', rig.address], rig.key, 5000);
  connection.close('');
});

test.serial('garbage, half a handshake and many who say nothing do not keep a member from serving', async (t) => {
  const rig = await startMember(t);
  rig.member.begin();
  const sockets = Array.from({ length: 200 }, (_, index) => {
    const socket = connect(hostAndPort(rig.address));
    socket.on('error', () => undefined);
    // Who reads nothing does not see that it was sent away.
    socket.resume();
    if (index % 4 === 0) socket.write(randomBytes(2000));
    if (index % 4 === 2) socket.end();
    if (index % 4 === 1) socket.write(Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00]));
    return socket;
  });
  // Those beyond the bound are sent away at once, and the others when they have had their time.
  await until(() => sockets.filter((socket) => socket.destroyed).length >= 100, 'most foreigners are sent away');
  await until(() => sockets.every((socket) => socket.destroyed), 'all foreigners are sent away');
  t.true(await isServing(rig));
  // More than may be there at once, one after another: nothing of them is left.
  for (let count = 0; count < 100; count++) {
    const socket = connect(hostAndPort(rig.address));
    socket.on('error', () => undefined);
    socket.resume();
    if (count % 2 === 0) socket.end();
    else
      socket.once('connect', () => {
        socket.resetAndDestroy();
      });
    await until(() => socket.destroyed, 'it has left');
  }
  t.is(rig.pids.length, 1, 'only what was asked for with the secret has run');
  t.true(await isServing(rig));
});

test.serial('a peer that has the secret and breaks the rules is cut off, and what it ran ends', async (t) => {
  const rig = await startMember(t);
  rig.member.begin();
  const bad: Buffer[] = [
    encodeFrame({ kind: 'input', bytes: Buffer.from('x') }),
    encodeFrame({ kind: 'exit', status: 0 }),
    Buffer.from([99, 0, 0, 0, 0]),
    Buffer.from([1, 255, 255, 255, 255]),
  ];
  const { host, port } = hostAndPort(rig.address);
  for (const runsFirst of [false, true]) {
    for (const bytes of runsFirst ? bad.slice(1) : bad) {
      const socket = connectTls({
        host,
        port,
        ...suite,
        pskCallback: () => ({ psk: rig.key.secret, identity: 'gang 7 rank 1' }),
        checkServerIdentity: () => undefined,
      });
      socket.on('error', () => undefined);
      socket.on('data', () => undefined);
      const before = rig.pids.length;
      if (runsFirst) {
        socket.write(encodeFrame(run('sleep 1000')));
        await until(() => rig.pids.length > before, 'the command runs');
      }
      socket.write(bytes);
      await until(() => socket.destroyed, 'the connection is closed');
    }
  }
  t.is(rig.pids.length, 3);
  await until(() => !rig.pids.some(isAlive), 'what it ran is gone');
  t.true(await isServing(rig));
});

test.serial('a peer that is gone without a word is found out, at either end', async (t) => {
  const rig = await startMember(t);
  rig.member.begin();
  const { host, port } = hostAndPort(rig.address);
  const mute = connectTls({
    host,
    port,
    ...suite,
    pskCallback: () => ({ psk: rig.key.secret, identity: 'gang 7 rank 1' }),
    checkServerIdentity: () => undefined,
  });
  mute.on('error', () => undefined);
  mute.on('data', () => undefined);
  mute.write(encodeFrame(run('sleep 1000')));
  await until(() => rig.pids.length === 1, 'the command runs');
  await until(() => mute.destroyed && !isAlive(rig.pids[0] ?? 0), 'the command of a caller that says nothing ends');

  // A member that takes the connection and never answers: rank 0 keeps the connection open with its own pings, and
  // gives the member up.
  const silent = await startMember(t);
  const connection = await dialMember([silent.address], silent.key, 5000, { pingInterval: 100, silenceMax: 300 });
  const received = receive(connection);
  const frozen = connect(hostAndPort(silent.address));
  frozen.on('error', () => undefined);
  silent.member.close();
  await until(() => received.closed.length > 0, 'the member is known to be gone');
  t.pass();
});

test.serial(
  'commands that came before the start run at the start, and those of a caller that has left meanwhile do not',
  async (t) => {
    const rig = await startMember(t);
    const [first, second] = [
      await dialMember([rig.address], rig.key, 5000, patience),
      await dialMember([rig.address], rig.key, 5000, patience),
    ];
    const received = receive(first);
    first.send(run('echo early'));
    second.send(run('echo never'));
    const link = await dialMember([rig.address], rig.key, 5000, patience);
    const linked = receive(link);
    link.send({ kind: 'link' });
    await until(() => linked.frames.length > 0, 'the member answers, so it knows the others');
    second.close('');
    const third = await dialMember([rig.address], rig.key, 5000, patience);
    const refused = receive(third);
    third.send({ kind: 'link' });
    await until(
      () => refused.frames.length > 0 && linked.closed.length > 0,
      'a new link takes the place of the former one',
    );
    t.deepEqual(rig.pids, []);
    rig.member.begin();
    await until(() => received.frames.some(({ kind }) => kind === 'exit'), 'the early command ends');
    t.is(rig.pids.length, 1);
    for (const connection of [first, third]) connection.close('');
  },
);

test.serial('input and its end may come before the start, as of a caller without any input', async (t) => {
  const rig = await startMember(t);
  const connection = await dialMember([rig.address], rig.key, 5000, patience);
  const received = receive(connection);
  for (const frame of [
    run('cat; echo done'),
    { kind: 'input', bytes: Buffer.from('early ') },
    { kind: 'inputEnd' },
  ] satisfies Frame[])
    connection.send(frame);
  // A second connection is served only when the first has been read.
  const second = await dialMember([rig.address], rig.key, 5000, patience);
  const flood = receive(second);
  second.send(run('cat'));
  for (let sent = 0; sent < 64; sent += 1) second.send({ kind: 'input', bytes: Buffer.alloc(32 * 1024) });
  await until(() => flood.closed.length > 0, 'a caller that sends more than it may is cut off');
  t.deepEqual([received.closed, received.frames], [[], []], 'nothing runs yet');
  rig.member.begin();
  await until(() => received.frames.some(({ kind }) => kind === 'exit'), 'the command ends');
  const output = received.frames.flatMap((frame) => (frame.kind === 'output' ? [frame.bytes.toString()] : [])).join('');
  t.is(output, 'early done\n');
});

test.serial('a link that breaks is made again, and both ends give up when it stays away', async (t) => {
  const rig = await startMember(t, { linkPatience: 1500 });
  const lost: string[] = [];
  const link = await Link.open({
    addresses: [rig.address],
    key: rig.key,
    linkPatience: 1500,
    patience,
    onLost: (detail) => {
      lost.push(detail);
    },
  });
  rig.member.begin();
  // Somebody else with the secret takes its place for a moment: it comes back.
  const other = await dialMember([rig.address], rig.key, 5000, patience);
  const received = receive(other);
  other.send({ kind: 'link' });
  await until(() => received.closed.length > 0, 'the link has come back');
  t.deepEqual([lost, rig.lost], [[], []]);
  link.close();
  await until(() => rig.lost.length > 0, 'the member gives rank 0 up');
  t.regex(rig.lost[0] ?? '', /link to rank 0 is lost.*1500 ms/);

  const gone = await startMember(t);
  const second = await Link.open({
    addresses: [gone.address],
    key: gone.key,
    linkPatience: 1000,
    patience,
    onLost: (detail) => {
      lost.push(detail);
    },
  });
  gone.member.close();
  await until(() => lost.length > 0, 'rank 0 gives the member up');
  t.regex(lost[0] ?? '', /rank 1 is lost.*1000 ms/);
  second.close();
  await t.throwsAsync(
    Link.open({ addresses: [gone.address], key: gone.key, linkPatience: 500, patience, onLost: () => undefined }),
    { code: 'MUT_GANG_CHANNEL_FAILED' },
  );
});

test.serial(
  'what a command does not take of its input is bounded, and what its caller does not read holds it up',
  async (t) => {
    const rig = await startMember(t);
    rig.member.begin();
    const reader = await dialMember([rig.address], rig.key, 5000, patience);
    const received = receive(reader);
    reader.send(run('sleep 0.5; wc -c'));
    const piece = Buffer.alloc(64 * 1024);
    for (let count = 0; count < 4; count++) reader.send({ kind: 'input', bytes: piece });
    await until(
      () => received.frames.filter(({ kind }) => kind === 'inputTaken').length === 4,
      'all input is taken in the end',
    );
    reader.send({ kind: 'inputEnd' });
    await until(() => received.frames.some(({ kind }) => kind === 'exit'), 'the command ends');
    t.true(
      received.frames.some(
        (frame) => frame.kind === 'output' && frame.bytes.toString().trim() === String(4 * piece.length),
      ),
    );
    reader.close('');

    const writer = await dialMember([rig.address], rig.key, 5000, patience);
    let bytes = 0;
    writer.listen({
      onFrame: (frame) => {
        if (frame.kind === 'output') bytes += frame.bytes.length;
        if (bytes > 0) writer.pause();
      },
      onDrained: () => undefined,
      onClosed: () => undefined,
    });
    writer.send(run('head -c 300000000 /dev/zero'));
    await until(() => bytes > 0, 'the first output comes');
    const before = process.memoryUsage.rss();
    const beside = await dialMember([rig.address], rig.key, 5000, patience);
    const receivedBeside = receive(beside);
    beside.send(run('sleep 0.5'));
    await until(
      () => receivedBeside.frames.some(({ kind }) => kind === 'exit'),
      'another command ends at the same time',
    );
    beside.close('');
    t.true(process.memoryUsage.rss() - before < 60 * 2 ** 20, `${process.memoryUsage.rss() - before} bytes more`);
    t.true(isAlive(rig.pids[1] ?? 0));
    writer.close('');
    await until(() => !isAlive(rig.pids[1] ?? 0), 'it ends with its caller');
  },
);
