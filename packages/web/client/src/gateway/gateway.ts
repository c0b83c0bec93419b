import type {
  Problem,
  TailMessage,
  RouteBody,
  RouteName,
  RouteParams,
  RouteQuery,
  RouteReply,
} from '../../../src/schema/index.ts';
import { listAddress, apiPath, routePaths } from './route-paths.ts';
import { SseParser } from './sse-parser.ts';

/** A call that was refused or did not arrive. */
export class GatewayProblem extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.message);
    this.problem = problem;
  }
}

const unreachable: Problem = {
  code: 'MUT_UNREACHABLE',
  message: 'The page cannot reach its server.',
  advice: 'Start it with "mutirao web"; the page then reconnects.',
  retryable: true,
};

/** Arguments of a call, in addition to its name. */
export interface Asked<N extends RouteName> {
  readonly params?: RouteParams<N>;
  readonly query?: RouteQuery<N>;
  readonly body?: RouteBody<N>;
  readonly signal?: AbortSignal;
}

/** The calls of the gateway, with the token of the page. */
export interface Gateway {
  readonly token: string;
  call<N extends RouteName>(name: N, asked?: Asked<N>): Promise<RouteReply<N>>;
  /** Streams the output of a running task; resolves when the task has ended or `signal` fires. */
  tail(jobId: number, taskIndex: number, take: (message: TailMessage) => void, signal: AbortSignal): Promise<void>;
  /** Has the browser save a download of the gateway: an address alone would carry no token. */
  download(jobId: number, what: string, format: string): Promise<void>;
}

/** @throws {GatewayProblem} in the promises: what the gateway refused, or MUT_UNREACHABLE. */
export function makeGateway(token: string): Gateway {
  const ask = async (address: string, init: RequestInit): Promise<Response> => {
    const headers = { ...(init.headers as Record<string, string>), authorization: `Bearer ${token}` };
    const reply = await fetch(address, { ...init, headers, cache: 'no-store' }).catch((error: unknown) => {
      if (error instanceof DOMException && error.name === 'AbortError') throw error;
      throw new GatewayProblem(unreachable);
    });
    if (!reply.ok) throw new GatewayProblem(await readProblem(reply));
    return reply;
  };
  return {
    token,
    call: async (name, { params, query, body, signal } = {}) => {
      const method = routePaths[name].split(' ', 1)[0] as 'GET' | 'POST';
      const init: RequestInit = { method, ...(signal && { signal }) };
      if (method === 'POST')
        Object.assign(init, { body: JSON.stringify(body ?? {}), headers: { 'content-type': 'application/json' } });
      const reply = await ask(
        listAddress(name, (params ?? {}) as Record<string, string | number>, (query ?? {}) as Record<string, string>),
        init,
      );
      return (await reply.json()) as RouteReply<typeof name>;
    },
    tail: async (jobId, taskIndex, take, signal) => {
      const reply = await ask(`${apiPath}/jobs/${jobId}/tasks/${taskIndex}/tail`, { signal });
      if (reply.body === null) return;
      const parser = new SseParser();
      const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read())
        for (const { event, data } of parser.read(chunk.value)) {
          if (event === 'output') take(JSON.parse(data) as TailMessage);
          else if (event === 'problem')
            throw new GatewayProblem({ ...unreachable, ...(JSON.parse(data) as { readonly message: string }) });
        }
    },
    download: async (jobId, what, format) => {
      const reply = await ask(`${apiPath}/jobs/${jobId}/download?what=${what}&format=${format}`, {});
      saveFile(await reply.blob(), `job-${jobId}-${what}.${format}`);
    },
  };
}

async function readProblem(reply: Response): Promise<Problem> {
  try {
    const problem = (await reply.json()) as Partial<Problem>;
    if (typeof problem.code === 'string' && typeof problem.message === 'string')
      return { advice: '', retryable: false, ...problem } as Problem;
  } catch {
    // Not an answer of the gateway; its status is all that is known.
  }
  return { ...unreachable, message: `The answer was HTTP status ${reply.status}.` };
}

/** Has the browser save a content under a name. */
export function saveFile(content: Blob, name: string): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The description of an error for the user. */
export function getProblem(error: unknown): Problem {
  if (error instanceof GatewayProblem) return error.problem;
  return { code: '', message: error instanceof Error ? error.message : String(error), advice: '', retryable: false };
}
