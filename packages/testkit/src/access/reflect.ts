import { Metadata, type Client } from '@grpc/grpc-js';
import {
  ServerReflectionAlphaService,
  ServerReflectionService,
  type ServerReflectionRequest,
  type ServerReflectionResponse,
} from '@mutirao/api/reflection';

/** A question to server reflection. */
export type ReflectionQuestion = NonNullable<ServerReflectionRequest['messageRequest']>;
/** Its answer, or the error in place of one. */
export type ReflectionAnswer = NonNullable<ServerReflectionResponse['messageResponse']>;

const services = { v1: ServerReflectionService, v1alpha: ServerReflectionAlphaService } as const;

/** Asks a server about itself over one stream. Rejects with the status of a stream that fails. */
export function reflect(
  client: Client,
  questions: readonly ReflectionQuestion[],
  version: keyof typeof services = 'v1',
  metadata = new Metadata(),
): Promise<ReflectionAnswer[]> {
  const { path, requestSerialize, responseDeserialize } = services[version].serverReflectionInfo;
  return new Promise((resolve, reject) => {
    const answers: ReflectionAnswer[] = [];
    const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, metadata, {});
    call.on('data', ({ messageResponse }: ServerReflectionResponse) => {
      if (messageResponse !== undefined) answers.push(messageResponse);
    });
    call.on('error', reject);
    call.on('end', () => {
      resolve(answers);
    });
    for (const messageRequest of questions) call.write({ host: '', messageRequest });
    call.end();
  });
}

/** The names of the services that a server lists. */
export async function reflectServices(
  client: Client,
  version: keyof typeof services = 'v1',
  metadata?: Metadata,
): Promise<string[]> {
  const [answer] = await reflect(client, [{ $case: 'listServices', value: '' }], version, metadata);
  return answer?.$case === 'listServicesResponse' ? answer.value.service.map(({ name }) => name) : [];
}

/**
 * Encoded FileDescriptorProtos of the files that declare symbols, as they came: files that several symbols need come
 * once over one stream.
 */
export async function reflectFiles(
  client: Client,
  symbols: readonly string[],
  version: keyof typeof services = 'v1',
  metadata?: Metadata,
): Promise<Buffer[]> {
  const answers = await reflect(
    client,
    symbols.map((value) => ({ $case: 'fileContainingSymbol', value })),
    version,
    metadata,
  );
  return answers.flatMap((answer) =>
    answer.$case === 'fileDescriptorResponse' ? answer.value.fileDescriptorProto : [],
  );
}
