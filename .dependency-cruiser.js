// Who may import whom (ARCHITECTURE.md, "Packages"). Each rule is proved to fire by test/tidy/lint-self.test.ts.
const processes = 'broker|provider|agent|cluster|reservations|web';

export default {
  forbidden: [
    {
      name: 'core-is-pure',
      severity: 'error',
      from: { path: '^packages/core/src/' },
      to: { pathNot: '^(packages/core/src|node_modules/pure-rand)/' },
    },
    {
      name: 'machines-talk-by-messages',
      severity: 'error',
      from: { path: '^packages/core/src/machines/([^/]+)/' },
      to: { path: '^packages/core/src/machines/', pathNot: '^packages/core/src/machines/$1/' },
    },
    {
      name: 'algorithms-know-no-machine',
      severity: 'error',
      from: { path: '^packages/core/src/', pathNot: '^packages/core/src/machines/' },
      to: { path: '^packages/core/src/machines/' },
    },
    {
      name: 'formats-are-pure',
      severity: 'error',
      from: { path: '^packages/formats/src/' },
      // Parsers of XML and YAML, which read a text and do nothing else; and the sentences of reasons, which are pure.
      to: { pathNot: '^packages/(core|formats)/src/|^packages/api/src/reasons/|^node_modules/(saxes|yaml)/' },
    },
    {
      name: 'api-knows-only-core',
      severity: 'error',
      from: { path: '^packages/api/src/' },
      to: { path: '^packages/', pathNot: '^packages/(core|api)/src/' },
    },
    {
      name: 'simulator-has-no-network',
      severity: 'error',
      from: { path: '^packages/sim/src/' },
      to: {
        path: [
          `^packages/(runtime|managers|${processes})/`,
          '(^|/)node_modules/(@grpc|nats)/',
          '^(node:)?(net|http|child_process|timers)$',
        ],
      },
    },
    {
      name: 'drivers-do-not-meet',
      severity: 'error',
      from: { path: '^packages/runtime/' },
      to: { path: `^packages/(sim|managers|cli|${processes})/` },
    },
    {
      name: 'no-service-imports-a-service',
      severity: 'error',
      from: { path: `^packages/(${processes})/` },
      to: { path: `^packages/(cli|${processes})/`, pathNot: '^packages/$1/' },
    },
    {
      name: 'wire-only-in-runtime',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/(runtime|api|testkit)/|/test/' },
      to: { path: '(^|/)node_modules/(@grpc|nats)/' },
    },
    {
      name: 'processes-only-in-one-place',
      severity: 'error',
      from: {
        path: '^(packages|bench)/',
        pathNot: '^packages/(runtime/src/processes|testkit|cli/bin)/|/test/|^bench/',
      },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'not-to-test',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/', pathNot: '^packages/testkit/' },
      to: { path: ['/test/', '^test/', '^packages/testkit/', '(^|/)node_modules/(ava|fast-check)/'] },
    },
    {
      // What runs in a browser: it speaks to the gateway by its schema, of which it takes types alone, and computes
      // with what is pure.
      name: 'page-knows-only-the-schema',
      severity: 'error',
      from: { path: '^packages/web/client/src/' },
      to: {
        pathNot:
          '^packages/web/(client/src|src/schema)/|^packages/core/src/(shared|workflow)/|^packages/api/src/reasons/|(^|/)node_modules/(react|react-dom|@types/react|@types/react-dom|@xyflow|@dagrejs|@tanstack/react-virtual|echarts)/',
      },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'no-undeclared-dependency',
      severity: 'error',
      from: { path: '^packages/[^/]+/src/' },
      // Sibling packages resolve to a path, which this rule cannot judge; a tidy test compares those with each
      // package.json.
      to: { pathNot: '^packages/', dependencyTypes: ['npm-no-pkg', 'npm-unknown', 'unknown', 'undetermined'] },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(/generated/|lint-fixtures)' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['node', 'import', 'types', 'default'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
