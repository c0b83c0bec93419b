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

/** The same bytes as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
