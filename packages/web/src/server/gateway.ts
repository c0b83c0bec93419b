import { hash } from 'node:crypto';

import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';

import { MutiraoError } from '@mutirao/api/errors';
import type { Logger } from '@mutirao/runtime/log';
import type { TokenCheck } from '@mutirao/runtime/rpc';

import { apiPrefix, eventsPath, routes, type RouteName, type RouteSchema } from '../schema/index.ts';
import { JobArchive } from './analysis/job-archive.ts';
import type { GatewayParts } from './grid-calls.ts';
import { admit, securityHeaders } from './guard.ts';
import { analysisHandlers } from './handlers/analysis.ts';
import { jobHandlers } from './handlers/jobs.ts';
import { overviewHandlers } from './handlers/overview.ts';
import { makeDownload } from './handlers/downloads.ts';
import { reservationHandlers } from './handlers/reservations.ts';
import { steeringHandlers } from './handlers/steering.ts';
import { submissionHandlers } from './handlers/submissions.ts';
import { workflowHandlers } from './handlers/workflows.ts';
import { resourceHandlers } from './handlers/resources.ts';
import { GridHistory } from './history.ts';
import { JobSpecs } from './job-specs.ts';
import { bodyBytesMax, connectionsMax, headersMs, lateCheckMs, streamBacklogBytes, streamsMax } from './limits.ts';
import { AdvisedError, isBug, getProblem } from './problems.ts';
import { Readings } from './readings.ts';
import { readRequest, type Asked, type Handlers } from './requests.ts';
import { findStaticFile, type StaticFile, type StaticFiles } from './static-files.ts';
import { StreamHub, type Sink } from './stream/stream-hub.ts';
import { readSpec } from './stream/specs.ts';
import { readTailSubject, TailStreams } from './stream/tail-streams.ts';

/** What the gateway works with in addition to the grid. */
export interface GatewayOptions extends GatewayParts {
  readonly tokens: TokenCheck;
  /** The names by which it may be called; asked at each request, since the port is known only when it listens. */
  hosts(): ReadonlySet<string>;
  /** The files of the page; asked at each request, since the page may be built meanwhile. */
  files(): StaticFiles;
  readonly log: Logger;
  /** Time limit for the head of a request, in milliseconds. Default: `headersMs`. */
  readonly headersMs?: number;
  /** Another one at each start, for the ids of streams. */
  readonly instance: string;
}

/** The gateway: what answers HTTP, and the hub whose ticks drive its streams. */
export interface Gateway {
  readonly server: FastifyInstance;
  readonly hub: StreamHub;
  readonly history: GridHistory;
}

/** Makes the gateway; it does not listen yet. */
export function makeGateway(options: GatewayOptions): Gateway {
  const { log } = options;
  // Node's default is to look for late ones each 30 s.
  const http = { headersTimeout: options.headersMs ?? headersMs, connectionsCheckingInterval: lateCheckMs };
  const server = fastify({
    logger: false,
    bodyLimit: bodyBytesMax,
    exposeHeadRoutes: false,
    requestTimeout: 60_000,
    connectionTimeout: 0,
    forceCloseConnections: true,
    http,
  });
  server.server.maxConnections = connectionsMax;
  const hub = new StreamHub(options, options.instance);
  server.addHook('onRequest', async (request, reply) => {
    void reply.headers(securityHeaders);
    knock(options, request);
    await Promise.resolve();
  });
  server.addHook('onClose', async () => {
    hub.close();
    await Promise.resolve();
  });
  server.setErrorHandler((error, request, reply) => {
    const { status, problem } = getProblem(error);
    // What was asked is in the path alone: neither headers nor bodies are anybody's business.
    if (isBug(error))
      log.error({ err: error, method: request.method, route: request.routeOptions.url }, 'a request failed');
    // A caller that was refused, or sends too much, is disconnected: the gateway would otherwise wait for the rest of
    // the body.
    if (status === 401 || status === 403 || status === 413) void reply.header('connection', 'close');
    return reply.code(status).header('cache-control', 'no-store').send(problem);
  });
  const readings = new Readings(options);
  const history = new GridHistory(readings, options.clock);
  addRoutes(server, options, { hub, readings, history });
  return { server, hub, history };
}

function knock({ hosts, tokens }: GatewayOptions, { method, headers, raw, routeOptions }: FastifyRequest): void {
  for (const name of ['host', 'origin'])
    if (countOf(raw.rawHeaders, name) > 1)
      throw new MutiraoError('MUT_WEB_ORIGIN_FORBIDDEN', `the request has several headers "${name}"`);
  const one = (name: string): string | undefined => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(',') : value;
  };
  const asked = {
    method,
    host: headers.host,
    origin: headers.origin,
    fetchSite: one('sec-fetch-site'),
    authorization: headers.authorization,
  };
  // By the route that was found, not by the address: that may be written in many ways.
  admit(asked, hosts(), { needsToken: routeOptions.url !== pageFiles, tokens });
}

/**
 * How often a header is given: Node keeps the first of several, and a proxy in between may go by another one.
 *
 * @param raw names and values in turn.
 */
function countOf(raw: readonly string[], name: string): number {
  return raw.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

function addRoutes(
  server: FastifyInstance,
  options: GatewayOptions,
  { hub, readings, history }: { readonly hub: StreamHub; readonly readings: Readings; readonly history: GridHistory },
): void {
  const specs = new JobSpecs(options);
  const archive = new JobArchive(options, readings);
  const handlers: Handlers = {
    ...overviewHandlers(options, readings, history),
    ...jobHandlers(options, readings, specs),
    ...steeringHandlers(options),
    ...analysisHandlers(options, { archive, readings, specs }),
    ...resourceHandlers(options, readings, specs),
    ...workflowHandlers(options, readings),
    ...submissionHandlers(options, specs),
    ...reservationHandlers(options),
  };
  for (const [name, schema] of Object.entries(routes) as [RouteName, RouteSchema][]) {
    const handle = handlers[name] as (asked: Asked<RouteName>) => unknown;
    server.route({
      method: schema.method,
      url: `${apiPrefix}${schema.path}`,
      handler: async (request, reply) => {
        const document = await handle(readRequest(schema, request) as Asked<RouteName>);
        return sendDocument(request, reply, document);
      },
    });
  }
  server.get<{ Params: { id: string }; Querystring: { what?: unknown; format?: unknown } }>(
    `${apiPrefix}/jobs/:id/download`,
    async ({ params, query }, reply) => {
      if (!/^[1-9]\d{0,14}$/.test(params.id)) throw new MutiraoError('MUT_BAD_REQUEST', 'the path names no job');
      const { name, type, body } = await makeDownload(
        options,
        { jobId: Number(params.id), what: String(query.what), format: String(query.format) },
        { archive, readings },
      );
      return reply
        .header('cache-control', 'no-store')
        .header('content-disposition', `attachment; filename="${name}"`)
        .type(type)
        .send(body);
    },
  );
  const tails = new TailStreams(options);
  server.get<{ Params: { id: string; task: string } }>(
    `${apiPrefix}/jobs/:id/tasks/:task/tail`,
    ({ params }, reply) => {
      const subject = readTailSubject(params);
      const open = tails.admit();
      void reply.hijack();
      reply.raw.writeHead(200, {
        ...securityHeaders,
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store',
      });
      void open(subject, reply.raw);
    },
  );
  server.get(eventsPath, (request, reply) => {
    openStream(hub, request, { reply, readings, specs });
  });
  server.get(pageFiles, (request, reply) => sendFile(options.files(), request, reply));
}

/** Sends a document, or that it is the one which the page has. */
function sendDocument(request: FastifyRequest, reply: FastifyReply, document: unknown): FastifyReply {
  const body = JSON.stringify(document);
  void reply.header('cache-control', 'no-store').type('application/json');
  if (request.method !== 'GET') return reply.send(body);
  const etag = `"${hash('sha1', body, 'base64url')}"`;
  void reply.header('etag', etag);
  return request.headers['if-none-match'] === etag ? reply.code(304).send() : reply.send(body);
}

/** The route of the files of the page. */
const pageFiles = '/*';

function sendFile(files: StaticFiles, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const path = request.url.split('?', 1)[0] ?? '/';
  const file = requireFile(files, request.method, path);
  void reply
    .header('etag', file.etag)
    // Of a chunk the name changes with its content.
    .header('cache-control', /-[A-Z0-9]{8}\.\w+$/.test(path) ? 'private, max-age=31536000, immutable' : 'no-cache')
    .header('vary', 'accept-encoding')
    .type(file.type);
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const [encoding, body] = chooseEncoding(file, request.headers['accept-encoding'] ?? '');
  if (encoding !== '') void reply.header('content-encoding', encoding);
  return reply.send(body);
}

/** The file at a path. @throws {AdvisedError} MUT_NOT_FOUND, with what to do in place of it */
function requireFile(files: StaticFiles, method: string, path: string): StaticFile {
  if (path === '/api' || path.startsWith('/api/'))
    throw new AdvisedError(
      'MUT_NOT_FOUND',
      `the gateway has no call ${method} ${path.slice(0, 200)}`,
      `Calls start with ${apiPrefix}, for example ${apiPrefix}/session.`,
    );
  const file = findStaticFile(files, path);
  if (file !== undefined) return file;
  if (files.size > 0)
    throw new AdvisedError('MUT_NOT_FOUND', 'there is no such file of the page', 'Open the page at its root, "/".');
  throw new AdvisedError(
    'MUT_NOT_FOUND',
    'the page has not been built',
    'Run "scripts/setup" in the clone, then load the page again; nothing must be restarted.',
  );
}

/** The smallest of what the browser takes. */
function chooseEncoding({ brotli, gzipped, bytes }: StaticFile, accepted: string): readonly [string, Buffer] {
  if (brotli !== undefined && /\bbr\b/.test(accepted)) return ['br', brotli];
  return gzipped !== undefined && /\bgzip\b/.test(accepted) ? ['gzip', gzipped] : ['', bytes];
}

function openStream(
  hub: StreamHub,
  request: FastifyRequest,
  { reply, readings, specs }: { readonly reply: FastifyReply; readonly readings: Readings; readonly specs: JobSpecs },
): void {
  const query = request.query as Readonly<Record<string, unknown>>;
  const text = (name: string): string => (typeof query[name] === 'string' ? query[name] : '');
  const lastId = request.headers['last-event-id'];
  const spec = readSpec({ topics: text('topics'), job: text('job') }, typeof lastId === 'string' ? lastId : undefined, {
    readings,
    specs,
  });
  if (hub.pageCount >= streamsMax)
    throw new MutiraoError('MUT_WEB_STREAMS_MAX', `${streamsMax} streams are open; close a page`);
  void reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...securityHeaders,
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  });
  raw.write('retry: 1000\n\n');
  const sink: Sink = {
    isReady: () => raw.writableLength < streamBacklogBytes && !raw.destroyed,
    write: (message) => {
      raw.write(message);
    },
  };
  const close = hub.open(spec, sink);
  raw.on('close', close).on('error', close);
}
