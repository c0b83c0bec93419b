import { asBuffer } from '@mutirao/api/codecs';
import { AttachResponse } from '@mutirao/api/machine';
import { ConnectResponse } from '@mutirao/api/provider';

/** The alternative of a message, or what stands in its place. */
type AttachAnswer = NonNullable<AttachResponse['message']>;
type ConnectAnswer = NonNullable<ConnectResponse['message']>;

/** The bytes of a message to an agent. */
export function toAgent(message: AttachAnswer): Buffer {
  return asBuffer(AttachResponse.encode({ message }).finish());
}

/** The bytes of a message to a broker. */
export function toBroker(message: ConnectAnswer): Buffer {
  return asBuffer(ConnectResponse.encode({ message }).finish());
}
