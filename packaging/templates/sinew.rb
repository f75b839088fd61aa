# A Homebrew formula; `brew install ./sinew.rb`, or in a tap.
class Sinew < Formula
  desc "{{summary}}"
  homepage "{{base_url}}"
  version "{{version}}"
  license any_of: ["MIT", "Apache-2.0"]

{{platforms}}

  def install
    bin.install "sinew"
    man1.install Dir["man/*.1"]
    bash_completion.install "completions/sinew.bash" => "sinew"
    zsh_completion.install "completions/_sinew"
    fish_completion.install "completions/sinew.fish"
  end

  test do
    assert_match "git-history", shell_output("#{bin}/sinew find 'who changed this line, and why?'")
  end
end
