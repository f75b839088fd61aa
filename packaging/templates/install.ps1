# Installs sinew {{version}} for the current user: fetches the archive for Windows, compares its checksum with the
# release's list, and puts the program into a folder. Nothing else is changed.
#
#   SINEW_INSTALL_DIR   the folder [%LOCALAPPDATA%\Programs\sinew]
#   SINEW_DOWNLOAD_URL  where the release's files are
$ErrorActionPreference = 'Stop'

$version = '{{version}}'
$base = if ($env:SINEW_DOWNLOAD_URL) { $env:SINEW_DOWNLOAD_URL } else { '{{base_url}}' }
$folder = if ($env:SINEW_INSTALL_DIR) { $env:SINEW_INSTALL_DIR } else { Join-Path $env:LOCALAPPDATA 'Programs\sinew' }
$platforms = '{{platforms}}'.Split(' ')

$entry = $platforms | Where-Object { $_.StartsWith('win32-x64=') }
if (-not $entry) { throw 'this release has no package for Windows; build from source with cargo' }
$name = "sinew-$version-$($entry.Split('=')[1])"

$temporary = Join-Path ([IO.Path]::GetTempPath()) ([IO.Path]::GetRandomFileName())
New-Item -ItemType Directory -Path $temporary | Out-Null
try {
    Invoke-WebRequest -UseBasicParsing "$base/$name.zip" -OutFile "$temporary\sinew.zip"
    Invoke-WebRequest -UseBasicParsing "$base/SHA256SUMS" -OutFile "$temporary\SHA256SUMS"
    $line = Get-Content "$temporary\SHA256SUMS" | Where-Object { $_ -match "^[0-9a-f]{64}  $([regex]::Escape($name))\.zip$" }
    if (-not $line) { throw "SHA256SUMS does not name $name.zip" }
    $wanted = $line.Substring(0, 64)
    $found = (Get-FileHash -Algorithm SHA256 "$temporary\sinew.zip").Hash.ToLowerInvariant()
    if ($found -ne $wanted) { throw "the archive is not the released one: its SHA-256 is $found, not $wanted" }
    Expand-Archive "$temporary\sinew.zip" -DestinationPath $temporary
    New-Item -ItemType Directory -Force -Path $folder | Out-Null
    Copy-Item -Force "$temporary\$name\sinew.exe" (Join-Path $folder 'sinew.exe')
} finally {
    Remove-Item -Recurse -Force $temporary
}
Write-Output "sinew $version is at $folder\sinew.exe"
Write-Output "next: add $folder to PATH, then run: sinew setup"
