// The one executable: the command line and all processes. `mutirao run NAME` is the process itself, not a child of it.
import { main as commandLine } from '../../packages/cli/src/main.ts';

const programs: Readonly<Record<string, () => Promise<{ main(argv: readonly string[]): Promise<void> }>>> = {
  agent: () => import('../../packages/agent/src/main.ts'),
  broker: () => import('../../packages/broker/src/main.ts'),
  cluster: () => import('../../packages/cluster/src/main.ts'),
  remove: () => import('../../packages/runtime/src/processes/remove-folder.ts'),
  provider: () => import('../../packages/provider/src/main.ts'),
  reservations: () => import('../../packages/reservations/src/main.ts'),
  web: () => import('../../packages/web/src/main.ts'),
};

// Where a manager starts us without any environment, the shell's own defaults hold, as they would for a script.
if ((process.env['PATH'] ?? '') === '') process.env['PATH'] = '/usr/local/bin:/usr/bin:/bin';

async function start([word, name = '', ...args]: readonly string[]): Promise<void> {
  const program = word === 'run' && Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (program !== undefined) {
    await (await program()).main(args);
    return;
  }
  const status = await commandLine(process.argv.slice(2));
  // At once, for connections that are still closing are of no interest; all that was written has gone out.
  process.exit(status);
}

void start(process.argv.slice(2));
