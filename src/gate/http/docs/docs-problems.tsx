/** The page behind each problem's `type`, and their list: drawn from the table that the answers come from. */
import { PROBLEM_TYPES, type ProblemType } from '../shared/problem.ts';

const types = new Map<string, ProblemType>(Object.entries(PROBLEM_TYPES));

export const problemTypeNamed = (slug: string): ProblemType | undefined => types.get(slug);

export const ProblemTable = () => (
  <>
    <p>
      Requests that are no proposed call are refused with <code>application/problem+json</code> (RFC 9457); its{' '}
      <code>type</code> is one of these. They take no step.
    </p>
    <table>
      <thead>
        <tr>
          <th scope="col">Status</th>
          <th scope="col">Type</th>
          <th scope="col">Title</th>
        </tr>
      </thead>
      <tbody>
        {[...types].map(([slug, { status, title }]) => (
          <tr>
            <td>{status}</td>
            <td>
              <a href={`/docs/problems/${slug}`}>{slug}</a>
            </td>
            <td>{title}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </>
);

export const ProblemList = () => (
  <>
    <h1>Problem types</h1>
    <ProblemTable />
  </>
);

export const ProblemPage = ({ slug, type }: { slug: string; type: ProblemType }) => (
  <>
    <h1>{type.title}</h1>
    <p class="lead">
      <code>{slug}</code>, HTTP {type.status}
    </p>
    <div class="card">
      <p>{type.explanation}</p>
    </div>
    <p>
      <a href="/docs/problems">All problem types</a>
    </p>
  </>
);
