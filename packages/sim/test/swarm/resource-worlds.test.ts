// Worlds in which tasks ask for memory, GPUs and licences: no machine is over-committed, and every task gets its turn.
import test from 'ava';
import type { AgentCommand } from '@mutirao/core/machines/agent';
import { drawScenario, readScenario, resourcefulScenario, runWorld } from '../../src/index.ts';

test('where tasks ask for memory, GPUs and licences, sixty worlds use no more than there is and come to their end', (t) => {
  const launched = { withDevices: 0, withMemory: 0, withMore: 0, without: 0 };
  for (let seed = 0; seed < 60; seed += 1) {
    const { failure } = runWorld(resourcefulScenario(drawScenario(String(seed))), ({ commands }) => {
      for (const command of commands as readonly AgentCommand[]) {
        if (command.kind !== 'LaunchTask') continue;
        const { assignment, template } = command.replica;
        if ([80, 6, 12, 24, 48].includes(template.resources?.memory ?? 0)) launched.withMore += 1;
        if (assignment === undefined) launched.without += 1;
        else if (assignment.devices.length > 0) launched.withDevices += 1;
        else launched.withMemory += 1;
      }
    });
    t.is(failure, undefined, `seed ${seed}: ${failure?.message ?? ''}`);
  }
  for (const [what, count] of Object.entries(launched)) t.true(count > 500, `${what}: ${count}`);
});

test('a world of resources is read as it was written', (t) => {
  const scenario = resourcefulScenario(drawScenario('3'));
  t.deepEqual(readScenario(JSON.parse(JSON.stringify(scenario))), scenario);
});
