import { MutiraoError } from '@mutirao/api/errors';
import {
  GridMachineProviderServiceService,
  SendContentRequest,
  type GridMachineProviderServiceClient,
} from '@mutirao/api/provider';
import type { Timers } from '@mutirao/runtime/driver';
import { InFlightBytes } from '@mutirao/runtime/memory';
import { openRawSending } from '@mutirao/runtime/rpc';

import type { ContentSink } from './content-server.ts';

/** Milliseconds that the other side may take for a chunk: its agent may begin late, but not never. */
const stallMax = 120_000;

const passing = new InFlightBytes();

/** Opens the stream of a transfer to a provider; its first message names the transfer. */
export function openContentSink(
  client: GridMachineProviderServiceClient,
  transferId: string,
  timers: Timers,
): ContentSink {
  const sending = openRawSending(client, GridMachineProviderServiceService.sendContent);
  sending.writer.write(Buffer.from(SendContentRequest.encode({ transferId, data: Buffer.alloc(0) }).finish()));
  const inTime = async <T>(step: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = timers.start(stallMax, () => {
      reject(new MutiraoError('MUT_TRANSFER_FAILED', `transfer ${transferId} stood still for ${stallMax} ms`));
    });
    try {
      return await Promise.race([step, promise]);
    } finally {
      timers.cancel(timer);
    }
  };
  return {
    write: async (message) => {
      if (!sending.writer.write(message)) await inTime(sending.writer.drained());
      passing.note(message.length);
    },
    finish: async () => {
      sending.writer.end();
      await inTime(sending.response);
    },
    cancel: () => {
      sending.cancel();
    },
  };
}
