import { tmpdir } from 'node:os';
import test from 'ava';
import { MutiraoError } from '@mutirao/api/errors';
import { isFullDisk, Room, type RoomOptions } from '@mutirao/runtime/files';

function aRoom(parts: Partial<RoomOptions> = {}): { readonly room: Room; readonly alarms: (() => void)[] } {
  const alarms: (() => void)[] = [];
  const room = new Room({
    folder: tmpdir(),
    freeMin: 0,
    pause: 5,
    journalTrouble: () => undefined,
    timers: { start: (_delay, run) => alarms.push(run), cancel: () => undefined },
    ...parts,
  });
  return { room, alarms };
}

const full = (): Error => Object.assign(new Error('ENOSPC: no space left'), { code: 'ENOSPC' });
const turn = (): Promise<void> =>
  new Promise((resolve) => {
    setImmediate(resolve);
  });

test('a full disk is reported by its code, by ours, and by that of a cause', (t) => {
  t.true(isFullDisk(full()));
  t.true(isFullDisk(Object.assign(new Error('quota'), { code: 'EDQUOT' })));
  t.true(isFullDisk(new MutiraoError('MUT_OUTPUT_FORBIDDEN', 'no', { cause: full() })));
  t.true(isFullDisk(new MutiraoError('MUT_DISK_FULL', 'no')));
  t.false(isFullDisk(new MutiraoError('MUT_OUTPUT_FORBIDDEN', 'no', { cause: new Error('EACCES') })));
  t.false(isFullDisk('ENOSPC'));
});

test('what finds no room is done again until it does, and meanwhile nothing new is taken', async (t) => {
  const { room, alarms } = aRoom();
  let tries = 0;
  const done = room.retryWhileDiskFull(() => {
    tries += 1;
    return tries < 3 ? Promise.reject(full()) : Promise.resolve(tries);
  });
  for (const wanted of [1, 2]) {
    await turn();
    t.is(tries, wanted);
    t.is(room.trouble(), 'ENOSPC: no space left');
    t.throws(
      () => {
        room.demand();
      },
      { code: 'MUT_DISK_FULL', message: /nothing new is taken: ENOSPC/ },
    );
    alarms.pop()?.();
  }
  t.is(await done, 3);
  t.is(room.trouble(), undefined);
  t.notThrows(() => {
    room.demand();
  });
});

test('what is not wanted any more, and what fails for another reason, is not tried again', async (t) => {
  const { room, alarms } = aRoom();
  await t.throwsAsync(
    room.retryWhileDiskFull(
      () => Promise.reject(full()),
      () => false,
    ),
    { message: /ENOSPC/ },
  );
  await t.throwsAsync(
    room.retryWhileDiskFull(() => Promise.reject(new Error('other'))),
    { message: 'other' },
  );
  t.deepEqual([alarms.length, room.trouble()], [0, undefined]);
});

test('too little disk space and a journal that cannot be written are reported, the latter first', (t) => {
  t.regex(aRoom({ freeMin: 2 ** 60 }).room.trouble() ?? '', /^the disk of .* has .* left; expected /);
  t.is(aRoom({ freeMin: 2 ** 60, journalTrouble: () => 'stalled' }).room.trouble(), 'stalled');
});

test('bytes that come later wait until they fit', async (t) => {
  const { room, alarms } = aRoom();
  await room.whenFree(1);
  let isOver = false;
  void room.whenFree(2 ** 60).then(() => {
    isOver = true;
  });
  await turn();
  t.deepEqual([isOver, alarms.length], [false, 1]);
  t.regex(room.trouble() ?? '', /wait for room there/);
});
