import type { MethodDefinition, Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { protoFiles, protoFolder } from '@mutirao/api/descriptors';
import { admit, type RpcHost } from './adapt.ts';
import { toMutiraoError, toStatus } from './status.ts';

type StreamCall = Parameters<typeof admit>[0] & { emit(event: 'error', error: unknown): unknown };
type Codec = Pick<MethodDefinition<unknown, unknown>, 'requestDeserialize' | 'responseSerialize'>;

interface Reflected extends Codec {
  handle(call: StreamCall): void;
}

const versions = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
const method = 'ServerReflectionInfo';

/** The paths of server reflection. */
export const reflectionPaths: readonly string[] = versions.map((version) => `/${version}/${method}`);

/**
 * Adds server reflection (v1 and v1alpha) of these services over the published .proto files, for callers with a token.
 *
 * The files are read when somebody asks for the first time: most servers are never asked, and it takes longer than all the
 * rest of their start.
 */
export function addReflection(server: Server, host: RpcHost, services: readonly string[]): void {
  for (const version of versions) {
    let loaded: Reflected | undefined;
    const answer = async (call: StreamCall): Promise<void> => {
      try {
        admit(call, host);
        loaded ??= (await load(services)).get(version);
        loaded?.handle(call);
      } catch (error) {
        call.emit('error', toStatus(toMutiraoError(error)));
      }
    };
    // Messages are read only after the handler listens, so the codec is there by then.
    const definition = {
      path: `/${version}/${method}`, requestStream: true, responseStream: true,
      requestSerialize: keep, responseDeserialize: keep,
      requestDeserialize: (bytes: Buffer) => loaded?.requestDeserialize(bytes),
      responseSerialize: (value: unknown) => loaded?.responseSerialize(value) ?? Buffer.alloc(0),
    } as const;
    server.addService({ [method]: definition }, { [method]: (call: StreamCall) => { void answer(call); } } as unknown as UntypedServiceImplementation);
  }
}

function keep(bytes: unknown): Buffer {
  return bytes as Buffer;
}

/** Loads the .proto files and the reflection service over them. @param services those that it lists, beside health. */
async function load(services: readonly string[]): Promise<ReadonlyMap<string, Reflected>> {
  const [{ loadSync }, { ReflectionService }, { protoPath: healthProto }] = await Promise.all([
    import('@grpc/proto-loader'), import('@grpc/reflection'), import('grpc-health-check'),
  ]);
  const reflected = new Map<string, Reflected>();
  const files = loadSync([...protoFiles(), healthProto], { includeDirs: [protoFolder] });
  new ReflectionService(files, { services: [...services, 'grpc.health.v1.Health'] }).addToServer({
    addService: (service: ServiceDefinition, implementation: UntypedServiceImplementation) => {
      const definition = service[method];
      const handler = implementation[method] as unknown as Reflected['handle'] | undefined;
      if (definition === undefined || handler === undefined) return;
      const { path, requestDeserialize, responseSerialize } = definition;
      reflected.set(path.split('/')[1] ?? '', { requestDeserialize, responseSerialize, handle: handler });
    },
  });
  return reflected;
}
