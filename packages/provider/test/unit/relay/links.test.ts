// What an agent says while it belongs to nobody, or to a broker whose journal is gone.
import test from 'ava';
import { encodeReport } from '@mutirao/api/codecs';
import { AttachRequest, AttachResponse } from '@mutirao/api/machine';
import { anEnd, streamPair } from '@mutirao/testkit';
import { ReportBuffer } from '../../../src/standby/report-buffer.ts';
import { AgentLink } from '../../../src/relay/links.ts';
import { TaskMeasure } from '../../../src/relay/measure.ts';

test('an agent that is cleared while its reports found no space is done when the reported replicas have ended', (t) => {
  const [, far] = streamPair<Buffer, Buffer>();
  const identity = {
    attachmentId: 1,
    machineId: 'lab/m',
    incarnation: 'i',
    agentName: 'm',
    sharedTokens: [],
    homeMarks: [],
    requestId: '',
    takesOutputRequests: true,
  };
  const agent = new AgentLink(identity, far, new TaskMeasure({ now: () => 7 }));
  agent.keep(new ReportBuffer({ keep: () => false, offer: (contents) => contents, setPaused: () => undefined }));
  const report = encodeReport({
    sequence: 3,
    started: [],
    ended: [anEnd(4, 'succeeded', { startedAt: 1, endedAt: 2 })],
  });
  agent.receive(Buffer.from(AttachRequest.encode({ message: { $case: 'report', value: report } }).finish()));
  agent.clear([4]);
  const reported = far.sent.map((bytes) => AttachResponse.decode(bytes).message);
  t.deepEqual(
    reported.map((message) => message?.$case),
    ['cancel', 'acknowledged'],
  );
  t.true(agent.isClosed);
});
