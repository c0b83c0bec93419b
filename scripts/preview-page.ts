// Shows the page over a grid that is made up: node scripts/preview-page.ts [--tasks N] [--machines N] [--pace
// TASKS_PER_SECOND] [--port N]. Builds it first where it is stale; Ctrl-C ends it.
import { parseArgs } from 'node:util';
import { buildPageIfStale, pageFolder, startFakeGateway } from '@mutirao/testkit/page';

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '100000' },
    machines: { type: 'string', default: '1000' },
    pace: { type: 'string', default: '40' },
    port: { type: 'string', default: '0' },
  },
});
buildPageIfStale();
const { url } = await startFakeGateway({
  folder: pageFolder,
  taskCount: Number(values.tasks),
  machineCount: Number(values.machines),
  finishedPerSecond: Number(values.pace),
  port: Number(values.port),
});
console.log(url);
