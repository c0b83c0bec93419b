// Worlds whose cluster has nodes with memory and GPUs: no node and no allocation is over-committed, and all tasks end.
import test from 'ava';
import type { AgentCommand } from '@mutirao/core/machines/agent';
import { drawScenario, nodesScenario, readScenario, runWorld } from '../../src/index.ts';

test('on a cluster of unequal nodes, fifteen worlds use no more of a node than it has and come to their end', (t) => {
  const launched = { withDevices: 0, withMemory: 0, without: 0 };
  for (let seed = 0; seed < 15; seed += 1) {
    const { failure } = runWorld(nodesScenario(drawScenario(String(seed))), ({ commands }) => {
      for (const command of commands as readonly AgentCommand[]) {
        if (command.kind !== 'LaunchTask') continue;
        const { assignment } = command.replica;
        if (assignment === undefined) launched.without += 1;
        else if (assignment.devices.length > 0) launched.withDevices += 1;
        else launched.withMemory += 1;
      }
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  t.log(launched);
  for (const [what, count] of Object.entries(launched)) t.true(count > 100, `${what}: ${count}`);
});

test('a world with nodes is read as it was written', (t) => {
  const scenario = nodesScenario(drawScenario('3'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
