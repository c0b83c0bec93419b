import {
  decodeCancelReplicas,
  decodeBlobOffer,
  decodeOutputRequest,
  decodeServedUser,
  decodeStartGang,
  decodeStartReplicas,
  type ContentOffer,
  type LiveOutputRequest,
  type ServedUser,
} from '@mutirao/api/codecs';
import { MutiraoError } from '@mutirao/api/errors';
import type { AttachResponse, OutputRequest } from '@mutirao/api/machine';
import type { AgentInput } from '@mutirao/core/machines/agent';
import type { StartReplicas } from '@mutirao/core/messages';
import { unreachable } from '@mutirao/core/shared';

/** What a message of a provider means to an agent. */
export type FromProvider =
  | { readonly kind: 'input'; readonly input: AgentInput }
  | { readonly kind: 'batch'; readonly batch: StartReplicas }
  | { readonly kind: 'content'; readonly offer: ContentOffer }
  | { readonly kind: 'output'; readonly request: LiveOutputRequest }
  /** A question that is not worth the stream: who asked gets no answer. */
  | { readonly kind: 'dropped'; readonly reason: MutiraoError }
  | { readonly kind: 'served'; readonly user: ServedUser };

/**
 * Reads a message that follows the hello. @throws {MutiraoError} MUT_PROTOCOL, MUT_BAD_REQUEST: the stream is closed,
 * and the agent dials again.
 */
export function readFromProvider(message: NonNullable<AttachResponse['message']>): FromProvider {
  switch (message.$case) {
    case 'hello':
      throw new MutiraoError('MUT_PROTOCOL', 'a second hello');
    case 'start':
      return { kind: 'batch', batch: decodeStartReplicas(message.value) };
    case 'cancel':
      return getInput({ kind: 'ReplicasCancelled', ...decodeCancelReplicas(message.value) });
    case 'acknowledged':
      return getInput({ kind: 'ReportAcknowledged', sequence: message.value.sequence });
    case 'content':
      return { kind: 'content', offer: decodeBlobOffer(message.value) };
    case 'drain':
      return getInput({ kind: 'DrainRequested' });
    case 'served':
      return { kind: 'served', user: decodeServedUser(message.value) };
    case 'outputRequest':
      return readOutputRequest(message.value);
    case 'startGang':
      return getInput({ kind: 'GangStarted', start: decodeStartGang(message.value) });
    default:
      return unreachable(message);
  }
}

function getInput(input: AgentInput): FromProvider {
  return { kind: 'input', input };
}

/** One reader's bad question must not cost the tasks of all others their provider. */
function readOutputRequest(wire: OutputRequest): FromProvider {
  try {
    return { kind: 'output', request: decodeOutputRequest(wire) };
  } catch (error) {
    if (error instanceof MutiraoError) return { kind: 'dropped', reason: error };
    throw error;
  }
}
