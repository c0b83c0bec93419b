// Agents that can never start stop the requests for allocations, with their own last words where users look; once the
// cause is gone, work goes on.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { JobStatus } from '@mutirao/api/broker';
import { callUnary } from '@mutirao/runtime/rpc';
import { Grid, taskGroup, until } from '@mutirao/testkit';

test.serial(
  'a cluster whose agents cannot start is asked ever more seldom, and explain has their last words',
  async (t) => {
    let inTheWay = '';
    const grid = await Grid.start({
      clusters: [4],
      prepare: (home) => {
        inTheWay = join(home, 'agents');
        writeFileSync(inTheWay, 'where the folder of agents belongs');
        return Promise.resolve();
      },
    });
    t.teardown(() => grid.stop());
    const jobId = await grid.client.submit([taskGroup('true', 3)]);
    const explain = (): Promise<string> => grid.client.explain({ $case: 'jobId', value: jobId });
    await until(async () => /its last words: .*agents.*/.test(await explain()), 'explain has the words of an agent');
    const text = await explain();
    t.regex(text, /all requests of the providers have ended/);
    t.regex(text, /its last words: MUT_PATH_UNUSABLE E(?:EXIST|NOTDIR): [^\n]*agents/);
    t.notRegex(text, /bug of Mutirao/);
    const listEnded = async (): Promise<
      readonly { readonly submittedUnixMs: number; readonly endedUnixMs: number }[]
    > =>
      (await callUnary(grid.client.raw, 'listRequests', { includeEnded: true }, { deadlineMs: 60_000 })).requests
        .filter(({ endedUnixMs }) => endedUnixMs > 0)
        .sort((one, other) => one.endedUnixMs - other.endedUnixMs);
    await until(async () => (await listEnded()).length >= 3, 'it was tried a few times');
    const ended = await listEnded();
    // How long agents take to fail is the host's affair; the pause is what the provider chose.
    const pauses = ended
      .slice(1)
      .map(({ submittedUnixMs }, index) => submittedUnixMs - (ended[index]?.endedUnixMs ?? 0));
    t.true((pauses[1] ?? 0) > (pauses[0] ?? 0), `pauses grow: ${pauses.join(', ')}`);

    rmSync(inTheWay);
    t.is((await grid.client.waitEnded(jobId)).status, JobStatus.FINISHED);
  },
);
