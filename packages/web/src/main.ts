import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { getAsset } from 'node:sea';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { accountName, makeToken, writeAtomic } from '@mutirao/runtime/files';
import { isPacked } from '@mutirao/runtime/processes';
import { defineProgram, text, type ConfigOf, type ProgramContext } from '@mutirao/runtime/program';
import { acceptToken, joinAddress, parseLoopbackAddress } from '@mutirao/runtime/rpc';

import manifest from '../../../package.json' with { type: 'json' };
import { findProgram } from './server/find-program.ts';
import { makeGateway } from './server/gateway.ts';
import { loopbackHosts } from './server/guard.ts';
import { liveGrid } from './server/live-grid.ts';
import { findFormerPort, listenOn } from './server/listen.ts';
import { followStaticFolder, makeStaticFiles, type StaticFiles } from './server/static-files.ts';

const options = {
  listen: text({
    help: 'Loopback address to listen on; port 0 = that of the last start if it is free, else any.',
    placeholder: 'HOST:PORT',
    default: '127.0.0.1:0',
  }),
  broker: text({
    help: 'Address of the broker. Default: the one recorded in the home folder.',
    placeholder: 'HOST:PORT',
  }),
  reservations: text({
    help: 'Address of the reservation manager. Default: the only one of the home folder.',
    placeholder: 'HOST:PORT',
  }),
  directory: text({
    help: 'Where relative paths of jobs submitted on the page start. Default: the current folder.',
    placeholder: 'FOLDER',
  }),
};

/** Streams are sent to so often; nothing is read more often than its level says. */
const tickMs = 100;

/**
 * The page: a gateway between browsers on this host and the grid's own API. It decides nothing, and keeps only
 * a day of history, in memory.
 */
export const main = defineProgram({
  name: 'web',
  summary: "Serves the page of a grid to its user's browser.",
  options,
  optionGroups: [{ heading: 'Common options', names: ['listen', 'broker', 'reservations', 'directory'] }],
  examples: [
    { command: 'mutirao run web', effect: 'serve the page of the grid of this home folder' },
    { command: 'mutirao run web --listen 127.0.0.1:8080', effect: 'serve the page at port 8080' },
  ],
  run,
});

async function run(config: ConfigOf<typeof options>, { log, signal, home }: ProgramContext): Promise<void> {
  const { host, port } = parseLoopbackAddress(config.listen);
  const infoPath = join(home, 'web', 'web.json');
  const tokenFile = join(home, 'web', 'token');
  const token = makeToken();
  const tokens = acceptToken(token, accountName());
  const grid = liveGrid({ home, broker: config.broker, reservations: config.reservations });
  let hosts: ReadonlySet<string> = new Set();
  const { server, hub, history } = makeGateway({
    grid,
    tokens,
    log,
    home,
    program: findProgram({
      path: process.env['PATH'] ?? '',
      folder: dirname(fileURLToPath(import.meta.url)),
      home,
    }),
    clock: Date,
    userId: accountName(),
    directory: config.directory || process.cwd(),
    version: manifest.version,
    hosts: () => hosts,
    files: isPacked ? packedFiles() : followStaticFolder(fileURLToPath(new URL('../dist/', import.meta.url))),
    instance: randomUUID().slice(0, 8),
  });
  const bound = await listenOn(server, { host, port, former: findFormerPort(infoPath) });
  hosts = loopbackHosts(bound);
  // A new token at each start: another account that took the port meanwhile may have been shown the former one by an
  // open page.
  writeAtomic(tokenFile, `${token}\n`);
  writeAtomic(infoPath, `${JSON.stringify({ address: joinAddress(host, bound), pid: process.pid })}\n`);
  log.info({ address: joinAddress(host, bound) }, 'listening');
  const ticking = setInterval(() => {
    void hub.tick();
    void history.tick();
  }, tickMs);
  if (!signal.aborted) await once(signal, 'abort');
  clearInterval(ticking);
  await server.close();
  grid.close();
}

/** The page as the one executable holds it: contents in base64 by their paths. */
function packedFiles(): () => StaticFiles {
  const held = JSON.parse(getAsset('page', 'utf8')) as Readonly<Record<string, string>>;
  const files = makeStaticFiles(
    new Map(Object.entries(held).map(([path, content]) => [path, Buffer.from(content, 'base64')])),
  );
  return () => files;
}

if (import.meta.main) await main(process.argv.slice(2));
