import { MutiraoError } from '@mutirao/api/errors';
import type { GridMachineProviderServiceClient, SendContentRequest, SendContentResponse } from '@mutirao/api/provider';
import type { Timers } from '@mutirao/runtime/driver';
import { openSending, type Sending } from '@mutirao/runtime/rpc';

import type { ContentSink } from './content-server.ts';

/** Milliseconds that the other side may take for a chunk: its agent may begin late, but not never. */
const stallMax = 120_000;

/** Opens the stream of a transfer to a provider. */
export function openContentSink(client: GridMachineProviderServiceClient, transferId: string, timers: Timers): ContentSink {
  const sending: Sending<SendContentRequest, SendContentResponse> = openSending((done) => client.sendContent(done));
  let isFirst = true;
  const inTime = async <T>(step: Promise<T>): Promise<T> => {
    const { promise, reject } = Promise.withResolvers<never>();
    const timer = timers.start(stallMax, () => { reject(new MutiraoError('MUT_TRANSFER_FAILED', `transfer ${transferId} stood still for ${stallMax} ms`)); });
    try {
      return await Promise.race([step, promise]);
    } finally {
      timers.cancel(timer);
    }
  };
  return {
    write: async (data) => {
      const hasRoom = sending.writer.write({ transferId: isFirst ? transferId : '', data });
      isFirst = false;
      if (!hasRoom) await inTime(sending.writer.drained());
    },
    finish: async () => {
      // An empty content has no chunk, but its transfer has a name all the same.
      if (isFirst) sending.writer.write({ transferId, data: Buffer.alloc(0) });
      sending.writer.end();
      await inTime(sending.response);
    },
    cancel: () => { sending.cancel(); },
  };
}
