// Outputs that wait for a broker that is away: whole and safe, within bounds, and gone when they are not wanted any
// more.
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type ExecutionContext } from 'ava';
import { ReceiveContentResponse } from '@mutirao/api/provider';
import { quietLogger } from '@mutirao/runtime/log';
import { temporaryFolder } from '@mutirao/testkit';
import { OutputSpool, type OutputSpoolOptions, type SpooledOutput } from '../../../src/spool/output-spool.ts';

/** A folder and a table that outlive the spools that are opened on them. */
class Disk {
  readonly folder: string;
  readonly database = new DatabaseSync(':memory:');
  now = 1_000;

  constructor(t: ExecutionContext) {
    this.folder = temporaryFolder(t);
  }

  open(parts: Partial<OutputSpoolOptions> = {}): OutputSpool {
    return new OutputSpool({
      folder: this.folder,
      database: this.database,
      bytesMax: 10_000_000,
      reserveBytes: 100,
      freeBytes: () => 10_000_000,
      clock: { now: () => this.now },
      log: quietLogger,
      ...parts,
    });
  }

  /** Files of contents. */
  files(): string[] {
    return (readdirSync(this.folder, { recursive: true }) as string[]).filter((name) => /[0-9a-f]{64}$/.test(name));
  }
}

function anOutput(transferId: string, bytes: Uint8Array, parts: Partial<SpooledOutput> = {}): SpooledOutput {
  const content = { sha256: createHash('sha256').update(bytes).digest('hex'), size: bytes.length };
  return { transferId, brokerId: 'b1', machineId: 'p/pc1', content, ...parts };
}

async function* inPieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += 1000) {
    await Promise.resolve();
    yield bytes.subarray(at, at + 1000);
  }
}

async function getBytes(spool: OutputSpool, transferId: string): Promise<Buffer> {
  const output = spool.find(transferId);
  if (output === undefined) throw new Error(`nothing under ${transferId}`);
  const pieces: Buffer[] = [];
  // What comes is in buffers that go round.
  for await (const message of spool.read(output)) pieces.push(Buffer.from(ReceiveContentResponse.decode(message).data));
  return Buffer.concat(pieces);
}

const large = Buffer.alloc(600_000, 'mutirao ');

test('an output is given back byte for byte, also by the next process', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open();
  await spool.keep(anOutput('t1', large), inPieces(large));
  t.true((await getBytes(spool, 't1')).equals(large));
  const next = disk.open();
  t.true((await getBytes(next, 't1')).equals(large));
  t.deepEqual([next.count, next.bytes, next.getBytes('b1'), next.getBytes('b2')], [1, large.length, large.length, 0]);
});

async function* breaking(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield* inPieces(bytes);
  throw new Error('the line is cut');
}

test('a push that broke goes on where it broke, and so does what its broker fetches', async (t) => {
  const spool = new Disk(t).open();
  const offsets: number[] = [];
  const begin = (offset: number): void => {
    offsets.push(offset);
  };
  await t.throwsAsync(spool.keep(anOutput('t1', large), breaking(large.subarray(0, 5000)), begin));
  const other = spool.keep(anOutput('t2', large), inPieces(large.subarray(5000)), begin);
  // While one goes on, another one of the same content is on its own.
  await spool.keep(anOutput('t3', large), inPieces(large), begin);
  await other;
  t.deepEqual(offsets, [0, 5000, 0]);
  t.true((await getBytes(spool, 't2')).equals(large));
  const output = anOutput('t2', large);
  const rest: Buffer[] = [];
  for await (const message of spool.read(output, 599_990))
    rest.push(Buffer.from(ReceiveContentResponse.decode(message).data));
  t.true(Buffer.concat(rest).equals(large.subarray(599_990)));
});

test('what pushes that broke have left goes when others need the room', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open({ bytesMax: 1_000_000 });
  const [one, other] = [Buffer.alloc(600_000, 'a'), Buffer.alloc(900_000, 'b')];
  await t.throwsAsync(spool.keep(anOutput('t1', one), breaking(one.subarray(0, 300_000))));
  await spool.keep(anOutput('t2', other), inPieces(other));
  spool.remove(['t2']);
  const offsets: number[] = [];
  await spool.keep(anOutput('t3', one), inPieces(one), (offset) => {
    offsets.push(offset);
  });
  t.deepEqual(offsets, [0]);
});

test('what is not what it was announced as is not kept', async (t) => {
  const spool = new Disk(t).open();
  const other = Buffer.alloc(large.length, 'x');
  await t.throwsAsync(spool.keep(anOutput('t1', large), inPieces(other)), { code: 'MUT_CONTENT_MISMATCH' });
  await t.throwsAsync(spool.keep(anOutput('t1', large), inPieces(large.subarray(0, 5000))), {
    code: 'MUT_TRANSFER_FAILED',
  });
  t.is(spool.find('t1'), undefined);
  await t.notThrowsAsync(spool.keep(anOutput('t1', large), inPieces(large)));
});

test('outputs beyond the bound are refused until others are gone, counting those on their way', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open({ bytesMax: 1_000_000 });
  const [one, other] = [Buffer.alloc(600_000, 'a'), Buffer.alloc(600_000, 'b')];
  const first = spool.keep(anOutput('t1', one), inPieces(one));
  await t.throwsAsync(spool.keep(anOutput('t2', other), inPieces(other)), {
    code: 'MUT_SPOOL_FULL',
    message: /expected at most/,
  });
  await first;
  await t.throwsAsync(spool.keep(anOutput('t2', other), inPieces(other)), { code: 'MUT_SPOOL_FULL' });
  t.regex(spool.trouble, /waits at its machine/);
  t.is(spool.refusedCount, 2);
  spool.remove(['t1']);
  await spool.keep(anOutput('t2', other), inPieces(other));
  t.is(spool.trouble, '');
  t.deepEqual(disk.files().length, 1);
});

test('a full disk refuses outputs and keeps the stored ones', async (t) => {
  let free = 10_000_000;
  const disk = new Disk(t);
  const spool = disk.open({ freeBytes: () => free, reserveBytes: 1_000_000 });
  await spool.keep(anOutput('t1', large), inPieces(large));
  free = 1_500_000;
  const other = Buffer.alloc(600_000, 'b');
  await t.throwsAsync(spool.keep(anOutput('t2', other), inPieces(other)), {
    code: 'MUT_SPOOL_FULL',
    message: /left on the disk/,
  });
  await t.throwsAsync(spool.keep(anOutput('t3', Buffer.from('x')), fullDisk()), {
    code: 'MUT_SPOOL_FULL',
    message: /the disk is full/,
  });
  t.true((await getBytes(spool, 't1')).equals(large));
  t.deepEqual(readdirSync(join(disk.folder, 'tmp')), []);
});

async function* fullDisk(): AsyncGenerator<Uint8Array> {
  await Promise.resolve();
  yield Buffer.from('x');
  throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
}

test('a content goes with the last output that shares it', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open();
  await spool.keep(anOutput('t1', large), inPieces(large));
  await spool.keep(anOutput('t2', large, { machineId: 'p/pc2', brokerId: 'b2' }), inPieces(large));
  t.is(spool.bytes, large.length);
  t.deepEqual(
    spool.list('p/pc2', 'b2').map(({ transferId }) => transferId),
    ['t2'],
  );
  t.deepEqual(spool.list('p/pc2', 'b1'), []);
  spool.remove(['t1', 'nothing']);
  t.true((await getBytes(spool, 't2')).equals(large));
  spool.remove(['t2']);
  t.deepEqual([spool.bytes, spool.count, disk.files()], [0, 0, []]);
  t.is(disk.open().count, 0);
});

test('a content stays for an output whose bytes have come when the last other output that shares it goes', async (t) => {
  const disk = new Disk(t);
  // The time is asked for when the bytes are on the disk, and the output is not in the table yet.
  let onTime = (): void => undefined;
  const spool = disk.open({
    clock: {
      now: () => {
        onTime();
        return disk.now;
      },
    },
  });
  await spool.keep(anOutput('t1', large), inPieces(large));
  onTime = () => {
    spool.remove(['t1']);
  };
  await spool.keep(anOutput('t2', large), inPieces(large));
  t.is(spool.find('t1'), undefined);
  t.true((await getBytes(spool, 't2')).equals(large));
  spool.remove(['t2']);
  t.deepEqual([spool.bytes, disk.files()], [0, []]);
});

test('a content goes with the last output that shares it also while another one of it comes that breaks', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open();
  await spool.keep(anOutput('t1', large), inPieces(large));
  async function* cut(): AsyncGenerator<Uint8Array> {
    spool.remove(['t1']);
    yield* breaking(large.subarray(0, 1000));
  }
  await t.throwsAsync(spool.keep(anOutput('t2', large), cut()), { message: 'the line is cut' });
  t.deepEqual([spool.bytes, spool.count], [0, 0]);
  t.deepEqual(
    disk.files().filter((name) => !name.includes('part-')),
    [],
  );
});

test('what a killed process left half done is swept away, and what is too old', async (t) => {
  const disk = new Disk(t);
  const spool = disk.open();
  await spool.keep(anOutput('t1', large), inPieces(large));
  await spool.keep(anOutput('t2', Buffer.from('cut')), inPieces(Buffer.from('cut')));
  await spool.keep(anOutput('t3', Buffer.from('gone')), inPieces(Buffer.from('gone')));
  for (const name of disk.files()) {
    if (name.includes(anOutput('', Buffer.from('cut')).content.sha256)) {
      chmodSync(join(disk.folder, name), 0o600);
      truncateSync(join(disk.folder, name), 1);
    }
    if (name.includes(anOutput('', Buffer.from('gone')).content.sha256)) rmSync(join(disk.folder, name));
  }
  const next = disk.open();
  t.deepEqual([next.find('t1')?.transferId, next.find('t2'), next.find('t3')], ['t1', undefined, undefined]);
  t.is(disk.files().length, 1, 'a content without its line is gone');
  disk.now += 31 * 24 * 3_600_000;
  t.is(disk.open().count, 0);
  t.false(existsSync(join(disk.folder, disk.files()[0] ?? 'none')));
});

test('a name is used once', async (t) => {
  const spool = new Disk(t).open();
  await spool.keep(anOutput('t1', large), inPieces(large));
  await t.throwsAsync(spool.keep(anOutput('t1', large), inPieces(large)), { code: 'MUT_TRANSFER_FAILED' });
  await t.throwsAsync(spool.keep(anOutput('', large), inPieces(large)), { code: 'MUT_BAD_REQUEST' });
});
