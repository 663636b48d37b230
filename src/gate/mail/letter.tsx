/** The two forms of one letter. Both walk the same facts, so neither can say what the other does not. */
import { html } from 'hono/html';

export type Fact = { label: string; value: string };

/** What one speaker says. `tone` only colours it: the title tells a reader of plain text the same. */
export type Section = { title: string; tone: 'plain' | 'ledger' | 'unchecked'; facts: Fact[] };

export type Letter = {
  heading: string;
  opening: string;
  sections: Section[];
  /** The link an approver follows, or null in a letter that asks for nothing. */
  link: { label: string; url: string } | null;
  closing: string[];
};

export function letterText({ heading, opening, sections, link, closing }: Letter): string {
  const blocks = [
    heading,
    opening,
    ...sections.map(({ title, facts }) =>
      [title, '-'.repeat(title.length), ...facts.map(({ label, value }) => `  ${label}: ${value}`)].join('\n'),
    ),
    ...(link === null ? [] : [`${link.label}:\n${link.url}`]),
    ...closing,
  ];
  return `${blocks.join('\n\n')}\n`;
}

const EDGES: Record<Section['tone'], string> = {
  plain: 'solid #64748b',
  ledger: 'solid #15803d',
  unchecked: 'dashed #b45309',
};
const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,Helvetica,Arial,sans-serif";
const PARAGRAPH = 'margin:0 0 16px;font-size:16px;line-height:1.5';
const CELL =
  'padding:4px 0;overflow-wrap:anywhere;font-size:15px;line-height:1.5;text-align:left;vertical-align:top;font-weight:normal';

/** Styles stand in attributes and the layout in tables: mail clients drop the rest. No image, no tracker, no script. */
export async function letterHtml({ heading, opening, sections, link, closing }: Letter): Promise<string> {
  const page = (
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{heading}</title>
      </head>
      <body style={`margin:0;padding:24px 16px;${FONT}`}>
        <div style="max-width:560px;margin:0 auto">
          <h1 style="margin:0 0 16px;font-size:22px;line-height:1.3">{heading}</h1>
          <p style={PARAGRAPH}>{opening}</p>
          {sections.map((section) => (
            <SectionTable section={section} />
          ))}
          {link !== null && (
            <p style="margin:0 0 24px">
              <a
                href={link.url}
                style="display:inline-block;padding:12px 20px;border-radius:6px;background:#1d4ed8;color:#ffffff;font-weight:600;text-decoration:none"
              >
                {link.label}
              </a>
            </p>
          )}
          {closing.map((paragraph) => (
            <p style={PARAGRAPH}>{paragraph}</p>
          ))}
        </div>
      </body>
    </html>
  );
  return String(await html`<!DOCTYPE html>${page}`);
}

function SectionTable({ section: { title, tone, facts } }: { section: Section }) {
  return (
    <div
      style={`margin:0 0 24px;padding:12px 16px;border:1px solid #94a3b8;border-left:4px ${EDGES[tone]};border-radius:6px`}
    >
      <h2 style="margin:0 0 8px;font-size:16px;line-height:1.4">{title}</h2>
      <table role="presentation" style="width:100%;border-collapse:collapse">
        {facts.map(({ label, value }) => (
          <tr>
            <th scope="row" style={`${CELL};width:45%;padding-right:12px`}>
              {label}
            </th>
            <td style={`${CELL};font-variant-numeric:tabular-nums`}>
              <bdi>{value}</bdi>
            </td>
          </tr>
        ))}
      </table>
    </div>
  );
}
