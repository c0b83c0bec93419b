import type { Server, ServiceDefinition, UntypedServiceImplementation } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { ReflectionService } from '@grpc/reflection';
import { protoFiles, protoFolder } from '@mutirao/api/descriptors';
import { protoPath as healthProto } from 'grpc-health-check';
import { admit, type RpcHost } from './adapt.ts';
import { toMutiraoError, toStatus } from './status.ts';

type StreamCall = Parameters<typeof admit>[0] & { emit(event: 'error', error: unknown): unknown };
type StreamHandler = (call: StreamCall) => void;

/** Adds server reflection (v1 and v1alpha) over the published .proto files, for callers with a token. */
export function reflection(server: Server, host: RpcHost): void {
  const descriptors = loadSync([...protoFiles(), healthProto], { includeDirs: [protoFolder] });
  new ReflectionService(descriptors).addToServer({
    addService: (definition: ServiceDefinition, implementation: UntypedServiceImplementation) => {
      const guarded = Object.entries(implementation).map(([name, handler]) => [name, guard(handler as StreamHandler, host)]);
      server.addService(definition, Object.fromEntries(guarded) as UntypedServiceImplementation);
    },
  });
}

function guard(handler: StreamHandler, host: RpcHost): StreamHandler {
  return (call) => {
    try {
      admit(call, host);
    } catch (error) {
      call.emit('error', toStatus(toMutiraoError(error)));
      return;
    }
    handler(call);
  };
}
