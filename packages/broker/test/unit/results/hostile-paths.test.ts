// What a machine says never leads a file out of the folder that the user named: not by an attribute, by the path of an
// output, or by a link that is at home.
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { OutputContent, OutputSpec } from '@mutirao/core/messages';
import { temporaryFolder, type WithTeardown } from '@mutirao/testkit';
import { Gatherer } from '../../../src/gathering/gatherer.ts';
import { ResultAcceptor } from '../../../src/results/accept-result.ts';
import { Arrivals } from '../../../src/results/arrivals.ts';
import { Checks } from '../../../src/results/checks.ts';
import type { ResultOrder } from '../../../src/results/result-order.ts';
import { ResultDigester } from '../../../src/results/digest-result.ts';
import { hashFile } from '../../../src/staging/hash-file.ts';

const origin = { replicaId: 7, machineId: 'alpha/m1' };

function anOutput(changes: Partial<OutputContent> = {}): OutputContent {
  return {
    outputIndex: 0,
    path: '',
    content: { sha256: 'ab'.repeat(32), size: 6 },
    mode: 0o640,
    inline: undefined,
    transferId: '',
    ...changes,
  };
}

interface World {
  readonly home: string;
  /** A path outside the user's folder. */
  readonly victim: string;
  readonly acceptor: ResultAcceptor;
  readonly digester: ResultDigester;
  order(output: OutputContent, spec: Partial<OutputSpec>, changes?: Partial<ResultOrder>): Promise<ResultOrder>;
}

async function prepare(t: WithTeardown): Promise<World> {
  const parent = temporaryFolder(t);
  const [home, victim, own] = [join(parent, 'home'), join(parent, 'victim'), join(parent, 'own')];
  for (const folder of [home, victim, own, join(own, 'contents')]) mkdirSync(folder);
  writeFileSync(join(victim, 'key'), 'secret');
  const arrivals = await Arrivals.open(join(own, 'arrivals'), { now: 1, ageMax: 1 });
  const stores = {
    arrivals,
    hashFile,
    getBlobPath: (_userId: string, sha256: string) => join(own, 'contents', sha256),
    forbidden: [own],
  };
  const gatherer = new Gatherer({
    brokerId: 'b',
    instance: { name: 'i', firstJobId: 1 },
    volumeBytesMax: 1 << 20,
    isOpen: () => true,
  });
  const bounds = { checks: new Checks({ most: 1, now: () => 0 }), checkDeadline: 20_000 };
  return {
    home,
    victim,
    acceptor: new ResultAcceptor(
      stores,
      { gatherer, checksFolder: join(own, 'checks') },
      { placingsMax: 2, ...bounds },
    ),
    digester: new ResultDigester(
      { arrivals, folder: join(own, 'checks'), standardOutputOf: () => new Uint8Array(0) },
      bounds,
    ),
    order: async (output, spec, changes = {}) => {
      await arrivals.keepBytes(origin, output, Buffer.from('forged'));
      return {
        ...origin,
        userId: 'ana',
        jobId: 3,
        taskIndex: 5,
        value: 'v',
        attributes: {},
        homeDirectory: home,
        outputs: [output],
        outputSpecs: [{ root: 'playpen', path: 'out', localPath: join(home, 'results'), condition: '', ...spec }],
        check: '',
        ...changes,
      };
    },
  };
}

function assertUntouched(
  t: { deepEqual(one: unknown, other: unknown): unknown; is(one: unknown, other: unknown): unknown },
  { victim }: World,
): void {
  t.deepEqual(readdirSync(victim), ['key']);
  t.is(readFileSync(join(victim, 'key'), 'utf8'), 'secret');
}

test('an attribute leads no output out of its folder, whichever way it comes home', async (t) => {
  const here = await prepare(t);
  const { home, acceptor, digester } = here;
  for (const group of ['x/../../victim/key', '../../victim/key', '..', '.', '', 'a\0', '.bashrc']) {
    const order = await here.order(
      anOutput(),
      { localPath: join(home, 'results') + '/$group' },
      { attributes: { group } },
    );
    await t.throwsAsync(acceptor.accept(order), { code: 'MUT_UNSAFE_ATTRIBUTE' }, group);
    await t.throwsAsync(acceptor.keepFailed(order), { code: 'MUT_UNSAFE_ATTRIBUTE' }, group);
    await t.throwsAsync(
      acceptor.accept({ ...order, gatherFolder: join(home, 'gathered') }),
      { code: 'MUT_UNSAFE_ATTRIBUTE' },
      group,
    );
    await t.throwsAsync(digester.digest({ ...order, check: 'true' }), { code: 'MUT_UNSAFE_ATTRIBUTE' }, group);
  }
  assertUntouched(t, here);
  t.deepEqual(readdirSync(home), []);
});

test('a name that a machine chose is not followed as a link, nor is a folder that it chose', async (t) => {
  const here = await prepare(t);
  const { home, victim, acceptor } = here;
  mkdirSync(join(home, 'results'));
  symlinkSync(victim, join(home, 'results/link'));
  symlinkSync(join(victim, 'key'), join(home, 'results/file'));
  const spec = { path: 'key', localPath: `${home}/results/$group` };
  await t.throwsAsync(
    acceptor.accept(await here.order(anOutput({ path: 'key' }), spec, { attributes: { group: 'link' } })),
    { code: 'MUT_PATH_ESCAPES', message: /results\/link is a link/ },
  );
  await t.throwsAsync(
    acceptor.accept(
      await here.order(
        anOutput(),
        { ...spec, localPath: `${home}/results/$group/key` },
        { attributes: { group: 'link' } },
      ),
    ),
    { code: 'MUT_PATH_ESCAPES' },
  );
  // The link itself is replaced, as any file of that name.
  for (const group of ['link', 'file'])
    await acceptor.accept(await here.order(anOutput(), spec, { attributes: { group } }));
  t.is(readFileSync(join(home, 'results/link'), 'utf8'), 'forged');
  assertUntouched(t, here);
});

test('the files of a folder follow the links on the way that the user named, and none below', async (t) => {
  const here = await prepare(t);
  const { home, victim, acceptor } = here;
  mkdirSync(join(home, 'big/deep'), { recursive: true });
  symlinkSync('big', join(home, 'results'));
  await acceptor.accept(await here.order(anOutput({ path: 'deep/new/a' }), {}));
  t.is(readFileSync(join(home, 'big/deep/new/a'), 'utf8'), 'forged');
  symlinkSync(victim, join(home, 'big/deep/out'));
  await t.throwsAsync(acceptor.accept(await here.order(anOutput({ path: 'deep/out/key' }), {})), {
    code: 'MUT_PATH_ESCAPES',
    message: /results\/deep\/out is a link/,
  });
  await t.throwsAsync(acceptor.keepFailed({ ...(await here.order(anOutput({ path: '../../victim/key' }), {})) }), {
    code: 'MUT_PATH_ESCAPES',
  });
  assertUntouched(t, here);
});

test("nothing gets into the folders of Mutirao, by a job's number or by a link", async (t) => {
  const here = await prepare(t);
  const { home, acceptor } = here;
  await t.throwsAsync(acceptor.accept(await here.order(anOutput(), { localPath: join(home, '../own/$JOB') })), {
    code: 'MUT_OUTPUT_FORBIDDEN',
  });
  symlinkSync('../own', join(home, 'link'));
  await t.throwsAsync(acceptor.accept(await here.order(anOutput(), { localPath: join(home, 'link/new/out') })), {
    code: 'MUT_OUTPUT_FORBIDDEN',
    message: /which is not for results/,
  });
  t.deepEqual(readdirSync(join(home, '../own')).sort(), ['arrivals', 'contents']);
});

test('a check aside writes nowhere but in its own folder', async (t) => {
  const here = await prepare(t);
  const { home, digester, victim } = here;
  const up = '../'.repeat(20);
  for (const path of [`${up}${victim}/forged`, '../../victim/forged', '..', '/x', 'a//b']) {
    await t.throwsAsync(
      digester.digest(await here.order(anOutput({ path }), { localPath: '' }, { check: 'true' })),
      { code: 'MUT_PATH_ESCAPES' },
      path,
    );
    await t.throwsAsync(
      digester.digest(await here.order(anOutput({ path }), { localPath: join(home, 'all') }, { check: 'true' })),
      { code: 'MUT_PATH_ESCAPES' },
      path,
    );
  }
  await t.throwsAsync(
    digester.digest(await here.order(anOutput(), { path: `${up}${victim}/forged`, localPath: '' }, { check: 'true' })),
    { code: 'MUT_PATH_ESCAPES' },
  );
  // An output that goes elsewhere is where the task has it.
  await digester.digest(
    await here.order(
      anOutput({ path: 'in' }),
      { path: '/deep/out', localPath: join(victim, 'results') },
      { check: 'test "$(cat deep/out/in)" = forged' },
    ),
  );
  assertUntouched(t, here);
});

test('a result with an output that nobody asked for, as an earlier release took it in, is refused and ends nothing', async (t) => {
  const here = await prepare(t);
  const order = await here.order(anOutput({ outputIndex: 7 }), {});
  for (const result of [
    here.acceptor.accept(order),
    here.acceptor.accept({ ...order, gatherFolder: join(here.home, 'gathered') }),
    here.digester.digest({ ...order, check: 'true' }),
  ]) {
    await t.throwsAsync(result, { code: 'MUT_BAD_REPORT', message: 'alpha/m1 brings output 7, and 1 were asked for' });
  }
  await here.acceptor.keepFailed(order);
});
