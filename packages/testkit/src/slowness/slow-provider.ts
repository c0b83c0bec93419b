// Loaded into a provider under test before its own modules (`GridOptions.preloads`): what it writes on a stream goes
// out 10 ms apart, and an output that it keeps for a broker
// takes 1 s longer.
import promises from 'node:fs/promises';
import http2, { type ServerHttp2Stream } from 'node:http2';
import { syncBuiltinESMExports } from 'node:module';
import { setTimeout as pause } from 'node:timers/promises';

const keepMs = 1000;
const writeMs = 10;
const { rename } = promises;
const { createServer, createSecureServer } = http2;

promises.rename = async (from, to) => {
  if (String(to).includes('/spool/')) await pause(keepMs);
  await rename(from, to);
};

http2.createServer = ((...args: Parameters<typeof createServer>) =>
  createServer(...args).on('stream', slowDown)) as typeof createServer;
http2.createSecureServer = ((...args: Parameters<typeof createSecureServer>) =>
  createSecureServer(...args).on('stream', slowDown)) as typeof createSecureServer;
syncBuiltinESMExports();

function slowDown(stream: ServerHttp2Stream): void {
  const write = stream._write.bind(stream);
  const writeMany = stream._writev?.bind(stream);
  stream._write = (chunk, encoding, callback) => {
    setTimeout(write, writeMs, chunk, encoding, callback);
  };
  if (writeMany !== undefined)
    stream._writev = (chunks, callback) => {
      setTimeout(writeMany, writeMs * chunks.length, chunks, callback);
    };
}
