import { FormatError, parseFailureTrace } from '@mutirao/formats';
import test from 'ava';

const trace = `# event_id component_id node_id platform_id node_name event_type event_start_time event_stop_time event_end_reason
    0	    0	  655	    3	              10.000	         0	   1000	   1100	       NULL
    1	    0	  655	    3	              10.000	         1	   1100	   9000	       4022
    2	    0	  655	    3	              10.000	         0	    500	    600	       NULL
    3	    1	  655	    3	              10.000	         0	   2000	   2001	       NULL
    4	    1	  655	    3	              10.000	         0	   3000	   2001	       NULL
    5	    1
`;

test('a failure trace gives when each node was not available, in order; senseless lines are counted', (t) => {
  const { nodes, malformedCount } = parseFailureTrace(trace, 'fta.tab');
  t.deepEqual(nodes, [
    {
      nodeId: '0.655',
      downs: [
        { start: 500_000, end: 600_000 },
        { start: 1_000_000, end: 1_100_000 },
      ],
    },
    { nodeId: '1.655', downs: [{ start: 2_000_000, end: 2_001_000 }] },
  ]);
  t.is(malformedCount, 2);
});

test('a text that is not a failure trace is refused', (t) => {
  const error = t.throws(() => parseFailureTrace('not a trace\n', 'some.txt'), { instanceOf: FormatError });
  t.regex(error.message, /^some\.txt:1:1: found "not a trace", expected a failure trace/);
});
