import {
  openRequestBytes,
  requestBytes,
  requestBytesUsual,
  streamedRequestBytes,
  transferMethods,
} from '@mutirao/api/limits';
import type { Bytes } from '@mutirao/core/shared';
import type { RpcHost } from '../adapt.ts';
import type { ServiceBinding } from '../bind.ts';
import type { GatedMethod } from './call-gate.ts';
import type { CallerLoads } from './caller-loads.ts';

/** What the methods of one server have in common. */
export interface GatedServer {
  readonly host: RpcHost;
  readonly loads: CallerLoads;
  /** The bound of grpc-js on messages. */
  readonly messageBytesMax: Bytes;
}

/** The methods of a server, with what decides whether their calls are admitted. */
export class GatedMethods {
  readonly byPath = new Map<string, GatedMethod>();
  readonly #server: GatedServer;

  constructor(server: GatedServer) {
    this.#server = server;
  }

  /** Methods of a service that anybody may call. */
  addOpen(methods: Iterable<{ readonly path: string }>): void {
    for (const { path } of methods)
      this.byPath.set(path, {
        path,
        host: undefined,
        loads: undefined,
        machinesOf: undefined,
        isOneMessage: true,
        requestBytesMax: openRequestBytes,
      });
  }

  /** Methods with a stream of small requests, for those with a credential. */
  addReflection(paths: readonly string[]): void {
    const { host, loads } = this.#server;
    for (const path of paths)
      this.byPath.set(path, {
        path,
        host,
        loads,
        machinesOf: undefined,
        isOneMessage: false,
        requestBytesMax: requestBytesUsual,
      });
  }

  addService(service: ServiceBinding): void {
    const host = service.getHost(this.#server.host);
    const { loads } = this.#server;
    const { machinesOf } = service;
    for (const { path, requestStream } of Object.values(service.definition)) {
      this.byPath.set(path, {
        path,
        host,
        loads,
        machinesOf,
        isOneMessage: !requestStream,
        transfer: transferMethods[path],
        requestBytesMax: requestStream ? this.#streamedMax() : (requestBytes[path] ?? requestBytesUsual),
      });
    }
  }

  #streamedMax(): Bytes | undefined {
    return this.#server.messageBytesMax > streamedRequestBytes ? streamedRequestBytes : undefined;
  }
}
