import test, { type ExecutionContext } from 'ava';
import { HostClaims } from '../../../src/capacity/host-claims.ts';
import type { HostFiles } from '../../../src/capacity/host-files.ts';
import { findPinning, listProcessors, spread } from '../../../src/capacity/pinning.ts';

let spaces = 0;

function claimsOf(t: ExecutionContext, space: string): HostClaims {
  const claims = new HostClaims(space);
  t.teardown(() => {
    claims.close();
  });
  return claims;
}

function newSpace(): string {
  return `mutirao-test-${process.pid}-${++spaces}`;
}

function hostOf(said: string | undefined, siblings: Readonly<Record<number, string>> = {}): HostFiles {
  return {
    read: (file) => siblings[Number(/cpu(\d+)\/topology/.exec(file)?.[1] ?? -1)],
    list: () => [],
    run: () => Promise.resolve(said),
  };
}

const program = '/usr/bin/taskset';

test('a claim is refused while another has it, and free again when that ends', async (t) => {
  const space = newSpace();
  const [one, other] = [claimsOf(t, space), claimsOf(t, space)];
  t.true(await one.claim('gpu-0'));
  t.false(await other.claim('gpu-0'));
  t.true(await other.claim('gpu-1'));
  one.close();
  t.true(await other.claim('gpu-0'));
});

test('two agents of a host pin their tasks to different processors', async (t) => {
  const space = newSpace();
  const options = { processorIds: [0, 1, 2, 3], offered: 2, program };
  const first = await findPinning(hostOf(''), claimsOf(t, space), options);
  t.deepEqual(first?.processorIds, [0, 1]);
  const second = await findPinning(hostOf(''), claimsOf(t, space), options);
  t.deepEqual(second?.processorIds, [2, 3]);
  t.is(await findPinning(hostOf(''), claimsOf(t, space), options), undefined);
});

test('an agent that cannot have a processor for each slot claims none', async (t) => {
  const space = newSpace();
  const options = { processorIds: [0, 1], program };
  await claimsOf(t, space).claim('processor-1');
  t.is(await findPinning(hostOf(''), claimsOf(t, space), { ...options, offered: 2 }), undefined);
  t.deepEqual((await findPinning(hostOf(''), claimsOf(t, space), { ...options, offered: 1 }))?.processorIds, [0]);
});

test('tasks are not pinned where more is offered than there is, or where the tool is missing or does not work', async (t) => {
  const find = (offered: number, tool: string | undefined, said: string | undefined): ReturnType<typeof findPinning> =>
    findPinning(hostOf(said), claimsOf(t, newSpace()), { processorIds: [0, 1], offered, program: tool });
  t.is(await find(3, program, ''), undefined);
  t.is(await find(1, undefined, ''), undefined);
  t.is(await find(1, program, undefined), undefined);
});

test('the first slots are on different cores', (t) => {
  const host = hostOf('', { 0: '0-1', 1: '0-1', 2: '2-3', 3: '2-3' });
  t.deepEqual(spread(host, [0, 1, 2, 3]), [0, 2, 1, 3]);
  t.deepEqual(spread(host, [1, 2, 3]), [1, 2, 3]);
  t.deepEqual(spread(hostOf(''), [5, 4]), [4, 5]);
});

test('processors of slots are listed in ascending order', (t) => {
  t.is(listProcessors({ program, processorIds: [0, 4, 1, 5] }, [3, 1, 2]), '1,4,5');
});
