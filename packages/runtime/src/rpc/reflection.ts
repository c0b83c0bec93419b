import { status, type MethodDefinition, type Server } from '@grpc/grpc-js';
import type { ProtoFile, ProtoFiles } from '@mutirao/api/proto-files';
import {
  ServerReflectionAlphaService,
  ServerReflectionService,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from '@mutirao/api/reflection';
import { adapt, type RpcHost } from './adapt.ts';
import type { BidiHandler } from './handlers.ts';
import { tolerant } from './malformed.ts';
import { toMutiraoError } from './status.ts';

type Request = NonNullable<ServerReflectionRequest['messageRequest']>;
type Response = NonNullable<ServerReflectionResponse['messageResponse']>;
type Handler = BidiHandler<ServerReflectionRequest, ServerReflectionResponse>;
type Method = MethodDefinition<ServerReflectionRequest, ServerReflectionResponse>;

const versions = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];

/** The paths of server reflection. */
export const reflectionPaths: readonly string[] = versions.map((version) => `/${version}/ServerReflectionInfo`);

/**
 * Adds server reflection (v1 and v1alpha) over the published .proto files, for callers with a credential.
 *
 * @param services listed in addition to health and reflection.
 */
export function addReflection(server: Server, host: RpcHost, services: readonly string[]): void {
  const handler = reflect([...services, 'grpc.health.v1.Health', ...versions].sort());
  for (const service of [ServerReflectionService, ServerReflectionAlphaService]) {
    // Both versions have the same messages.
    const method = service.serverReflectionInfo as unknown as Method;
    const info = { ...method, requestDeserialize: tolerant(method.requestDeserialize) };
    server.addService({ info }, { info: adapt(info, handler, host) });
  }
}

/** Answers the requests of a stream in their order. */
function reflect(services: readonly string[]): Handler {
  let loading: Promise<ProtoFiles> | undefined;
  return (stream) => {
    // Described when somebody asks for the first time: most servers are never asked.
    loading ??= import('@mutirao/api/proto-files').then(({ ProtoFiles }) => new ProtoFiles());
    const sent = new Set<ProtoFile>();
    const loaded = loading;
    const withFiles = (act: (files: ProtoFiles) => void): void => {
      loaded.then(act).catch((error: unknown) => {
        stream.close(toMutiraoError(error));
      });
    };
    stream.onDrain = () => {
      stream.resume();
    };
    stream.listen({
      onMessage: (request) => {
        withFiles((files) => {
          const messageResponse = respond(request.messageRequest, { files, services, sent });
          if (!stream.write({ validHost: request.host, originalRequest: request, messageResponse })) stream.pause();
        });
      },
      onEnd: () => {
        withFiles(() => {
          stream.end();
        });
      },
      onClosed: () => undefined,
    });
  };
}

interface Reflected {
  readonly files: ProtoFiles;
  readonly services: readonly string[];
  /** What the caller has been sent on its stream. */
  readonly sent: Set<ProtoFile>;
}

function respond(request: Request | undefined, { files, services, sent }: Reflected): Response {
  switch (request?.$case) {
    case 'listServices':
      return { $case: 'listServicesResponse', value: { service: services.map((name) => ({ name })) } };
    case 'fileByFilename':
      return found(files.findFile(request.value), sent, `file ${request.value}`);
    case 'fileContainingSymbol':
      return found(files.findSymbol(request.value), sent, `symbol ${request.value}`);
    case 'fileContainingExtension': {
      const { containingType, extensionNumber } = request.value;
      return found(
        files.findExtension(containingType, extensionNumber),
        sent,
        `extension ${extensionNumber} of ${containingType}`,
      );
    }
    case 'allExtensionNumbersOfType': {
      const extensionNumber = files.extensionNumbers(request.value);
      if (extensionNumber === undefined) return notFound(`message ${request.value}`);
      return { $case: 'allExtensionNumbersResponse', value: { baseTypeName: request.value, extensionNumber } };
    }
    case undefined:
      return failed(status.INVALID_ARGUMENT, 'the request has no message_request that is known here');
  }
}

function found(file: ProtoFile | undefined, sent: Set<ProtoFile>, what: string): Response {
  if (file === undefined) return notFound(what);
  return {
    $case: 'fileDescriptorResponse',
    value: { fileDescriptorProto: [file, ...missing(file, sent)].map(({ bytes }) => bytes) },
  };
}

/** What a file imports, directly or not, and was not sent yet. */
function missing(file: ProtoFile, sent: Set<ProtoFile>): ProtoFile[] {
  sent.add(file);
  const imported: ProtoFile[] = [];
  const visit = ({ dependencies }: ProtoFile): void => {
    for (const dependency of dependencies.filter((one) => !sent.has(one))) {
      sent.add(dependency);
      imported.push(dependency);
      visit(dependency);
    }
  };
  visit(file);
  return imported;
}

function notFound(what: string): Response {
  return failed(status.NOT_FOUND, `there is no ${what}`);
}

function failed(errorCode: number, errorMessage: string): Response {
  return { $case: 'errorResponse', value: { errorCode, errorMessage } };
}
