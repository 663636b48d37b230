// Names what a run left out in one line and closes it with plain counts, so that a skipped browser test is never mistaken for a passed one.
import type { Reporter, TestModule } from 'vitest/node';

export default class SummaryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const skipped = tests.filter((test) => test.result().state === 'skipped');
    const failed = tests.filter((test) => test.result().state === 'failed');
    const passed = tests.length - skipped.length - failed.length;
    const names = skipped.map((test) => `${test.project.name}: ${test.fullName}`);
    console.log(`Skipped: ${names.length === 0 ? 'nothing' : names.join('; ')}`);
    console.log(`${passed} passed, ${failed.length} failed, ${skipped.length} skipped`);
  }
}
